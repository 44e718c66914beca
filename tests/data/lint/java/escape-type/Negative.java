class Negative {
  @SuppressWarnings("unchecked") int a;
  @SuppressWarnings("deprecation") int b;
}
