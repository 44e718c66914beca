class Negative { int f() {
  throw new UnsupportedOperationException("read only");
} }
