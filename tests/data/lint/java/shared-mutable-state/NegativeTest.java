class NegativeTest {
  static final int LIMIT = 1;
  int count = 0;
  @Test void a() { count++; assertEquals(LIMIT, count); }
}
