class Positive { void f(int a) {
  while (true) { a++; } // expect: endless-loop
} }
