class NegativeTest { @Test void a() { assertEquals(2, f(1)); } }
