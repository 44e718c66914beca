class NegativeTest {
  @Test void a() { assertEquals(4, f(2)); }
  @Test void b() { assertEquals(6, f(null)); }
  @Test void error() { assertEquals(10, f(5)); }
}
