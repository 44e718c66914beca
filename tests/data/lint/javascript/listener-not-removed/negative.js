export function f(a) {
  window.addEventListener('resize', a);
  return () => window.removeEventListener('resize', a);
}
