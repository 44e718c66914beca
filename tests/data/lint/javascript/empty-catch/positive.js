export function f(a) {
  try { a(); } catch (e) {} // expect: empty-catch
}
