class PositiveTest { @Test void a() {
  assertNotNull(f(2)); // expect: defined-only
} }
