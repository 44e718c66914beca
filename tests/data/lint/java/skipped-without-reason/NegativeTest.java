class NegativeTest { @Test void ignored() { assertEquals(4, f(2)); } }
