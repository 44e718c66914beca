class NegativeTest { @Test void a() {
  assertTrue(f(2) > 3);
} }
