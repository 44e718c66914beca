class NegativeTest {
  @Test void a() {
    int result = f(2) + f(3) + f(4);
    assertEquals(18, result);
  }
  @Test void b() {
    int result = f(2) + f(3) + f(5);
    assertEquals(20, result);
  }
}
