class NegativeTest { @Test void a() { same(f(2)); } void same(int x) { assertEquals(4, x); } }
