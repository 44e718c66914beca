class PositiveTest {
  @BeforeEach void before() { System.setProperty("a", "b"); } // expect: missing-cleanup
  @Test void a() { assertEquals(4, f(2)); }
}
