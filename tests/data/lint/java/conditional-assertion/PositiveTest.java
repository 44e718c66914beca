class PositiveTest { @Test void loads() {
  Row row = load("x");
  if (row != null) { // expect: conditional-assertion
    assertEquals("x", row.name);
  }
} }
