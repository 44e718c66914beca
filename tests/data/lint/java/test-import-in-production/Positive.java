import org.junit.Assert; // expect: test-import-in-production
class Positive { void f() { Assert.assertTrue(1 == 1); } }
