class PositiveTest {
  @Test void a() { // expect: nothing-asserted
    List<Integer> items = make();
    items.add(4);
  }
}
