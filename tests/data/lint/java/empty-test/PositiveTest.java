class PositiveTest {
  @Test void a() {} // expect: empty-test
}
