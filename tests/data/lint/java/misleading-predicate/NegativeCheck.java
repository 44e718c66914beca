class NegativeCheck {
  static void isTrue(boolean expression) {
    if (!expression) {
      throw new IllegalArgumentException("false");
    }
  }
}
