class Negative { int f() {
  // TODO implementing another one needs time
  return 1;
} }
