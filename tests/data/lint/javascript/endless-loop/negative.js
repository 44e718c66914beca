export async function f(a) {
  for (;;) { if (a) return a; }
}
export async function g(a) {
  while (true) { await a(); }
}
