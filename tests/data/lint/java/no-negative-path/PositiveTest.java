class PositiveTest {
  @Test void a() { assertEquals(4, f(2)); } // expect: no-negative-path
  @Test void b() { assertEquals(6, f(3)); }
  @Test void c() { assertEquals(0, f(0)); }
}
