class PositiveTest {
  @Test void a() { // expect: setup-only
    List<Integer> items = make();
    items.add(4);
  }
}
