class Positive { void f(Object o) {
  Mockito.when(o); // expect: stub-in-production
} }
