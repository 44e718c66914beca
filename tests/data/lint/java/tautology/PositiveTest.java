class PositiveTest { @Test void a() {
  assertTrue(true); // expect: tautology
  assertEquals(1, 1); // expect: tautology
} }
