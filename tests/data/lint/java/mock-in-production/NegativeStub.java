class NegativeStub { void f(Clock c) {
  c.when();
} }
