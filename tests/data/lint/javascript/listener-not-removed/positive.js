export function f(a) {
  window.addEventListener('resize', a); // expect: listener-not-removed
}
