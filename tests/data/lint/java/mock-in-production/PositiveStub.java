class PositiveStub { void f(Object o) {
  Mockito.when(o); // expect: mock-in-production
} }
