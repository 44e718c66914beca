export function f(a) {
  try { a(); } catch {
    // Nothing to undo.
  }
  try { a(1); } catch (e) { console.error(e); }
}
