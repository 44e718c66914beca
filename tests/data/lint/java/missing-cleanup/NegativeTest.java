class NegativeTest {
  @BeforeEach void before() { System.setProperty("a", "b"); }
  @AfterEach void after() { System.clearProperty("a"); }
  @Test void a() { assertEquals(4, f(2)); }
}
