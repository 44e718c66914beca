class Positive { int f() {
  int a = 1;
  int a = 2; // expect: redeclaration
  return a;
} }
