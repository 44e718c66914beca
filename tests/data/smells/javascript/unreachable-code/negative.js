export function f(a) {
  if (a) return later(a);
  return later(1);
  function later(b) { return b; }
}
