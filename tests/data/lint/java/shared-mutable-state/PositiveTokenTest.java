class PositiveTokenTest {
  static String token; // expect: shared-mutable-state
  @Test void adds() { token = add("x"); assertEquals("3", token); }
  @Test void finds() { assertEquals("x", find(token)); }
}
