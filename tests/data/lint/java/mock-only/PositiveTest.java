import static org.mockito.Mockito.verify;
class PositiveTest { @Test void a() {
  f(send);
  verify(send).send(); // expect: mock-only
} }
