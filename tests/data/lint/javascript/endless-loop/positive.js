export function f(a) {
  while (true) { a += 1; } // expect: endless-loop
}
