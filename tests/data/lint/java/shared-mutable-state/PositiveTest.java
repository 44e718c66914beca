class PositiveTest {
  static int count = 0; // expect: shared-mutable-state
  @Test void a() { count++; count = count + 1; assertEquals(2, count); }
  @Test void b() { assertNotEquals(7, count); }
}
