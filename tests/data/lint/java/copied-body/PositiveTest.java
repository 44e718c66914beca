class PositiveTest {
  @Test void a() {
    int result = f(2) + f(3) + f(4);
    assertEquals(18, result);
  }
  @Test void b() { // expect: copied-body
    int result = f(2) + f(3) + f(4);
    assertEquals(18, result);
  }
}
