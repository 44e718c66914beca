class PositiveTest {
  @Disabled("needs a server") @Test void a() { assertEquals(4, f(2)); } // expect: skipped-test
}
