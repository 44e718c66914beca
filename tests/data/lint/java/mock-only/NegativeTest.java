import static org.mockito.Mockito.verify;
class NegativeTest { @Test void a() {
  assertEquals(4, f(send));
  verify(send).send();
} }
