export function f(a) {
  return a;
  console.log(a); // expect: unreachable-code
}
