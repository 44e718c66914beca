class NegativeTest {
  @Test void a() { assertEquals(4, f(2)); }
  @Test void b() { assertThrows(A.class, () -> f(3)); }
  @Test void c() { assertEquals(0, f(0)); }
}
