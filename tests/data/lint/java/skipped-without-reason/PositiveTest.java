class PositiveTest {
  @Disabled @Test void a() { assertEquals(4, f(2)); } // expect: skipped-without-reason
}
