class NegativeTest { @Test void loads() {
  Row row = load("x");
  if (row == null) {
    fail("nothing there");
  }
  assertEquals("x", row.name);
} }
