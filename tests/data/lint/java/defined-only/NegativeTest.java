class NegativeTest { @Test void a() {
  assertNotNull(f(2));
  assertEquals(4, f(2));
} }
