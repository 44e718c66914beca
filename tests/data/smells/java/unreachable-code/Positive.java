class Positive { int f(int a) {
  return a;
  f(a); // expect: unreachable-code
} }
