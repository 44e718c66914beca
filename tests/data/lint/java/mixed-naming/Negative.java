class Negative {
  void thirdThing() {}
  void fourthThing() {}
}
