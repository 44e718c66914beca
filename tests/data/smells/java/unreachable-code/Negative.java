class Negative { int f(int a) {
  if (a > 1) { return a; }
  return f(a);
} }
