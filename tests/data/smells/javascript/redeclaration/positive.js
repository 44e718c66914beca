export function f() {
  const a = 1;
  const a = 2; // expect: redeclaration
  return a;
}
