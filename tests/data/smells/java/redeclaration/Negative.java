class Negative { int f(boolean b) {
  if (b) { int a = 1; return a; }
  int a = 2;
  return a;
} int f() { return 1; } }
