class PositiveTest { @Test void a() {
  boolean result = f(2);
  assertTrue(result); // expect: truthy-only
} }
