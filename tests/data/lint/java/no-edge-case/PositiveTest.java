class PositiveTest {
  @Test void a() { assertEquals(4, f(2)); } // expect: no-edge-case
  @Test void b() { assertEquals(6, f(3)); }
  @Test void error() { assertEquals(10, f(5)); }
}
