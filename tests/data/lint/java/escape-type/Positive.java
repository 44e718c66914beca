class Positive {
  @SuppressWarnings("unchecked") int a;
  @SuppressWarnings("unchecked") int b;
  @SuppressWarnings("unchecked") int c;
  @SuppressWarnings("unchecked") int d;
  @SuppressWarnings("unchecked") int e;
  @SuppressWarnings("unchecked") int f; // expect: escape-type
}
