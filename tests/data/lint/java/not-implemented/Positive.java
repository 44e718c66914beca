class Positive { int f() {
  throw new UnsupportedOperationException("Not implemented yet"); // expect: not-implemented
} }
