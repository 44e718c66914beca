class Positive { Object f() {
  return Mockito.mock(Object.class); // expect: mock-in-production
} }
