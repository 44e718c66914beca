class Positive {
  void first_thing() {} // expect: mixed-naming
  void second_thing() {}
  void thirdThing() {}
  void fourthThing() {}
}
