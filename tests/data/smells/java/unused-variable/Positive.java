class Positive { int f() {
  int tax = 3; // expect: unused-variable
  return 1;
} }
