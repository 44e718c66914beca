class NegativeTokenTest {
  static String token;
  @BeforeEach void begin() { token = add("x"); }
  @Test void adds() { assertEquals("3", token); }
  @Test void finds() { assertEquals("x", find(token)); }
}
