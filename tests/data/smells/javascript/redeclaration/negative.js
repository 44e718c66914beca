export function f() {
  const a = 1;
  { const a = 2; console.log(a); }
  return a;
}
