class NegativeTest {
  @Disabled("needs a printer") // expect: skipped-test
  @Test void a() {
    print(2);
  }
}
