class Negative { int f(int a) {
  while (true) { a++; if (a > 3) { return a; } }
} }
