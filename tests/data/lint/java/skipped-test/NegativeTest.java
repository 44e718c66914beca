class NegativeTest { @Test void a() { assertEquals(4, f(2)); } }
