class Negative { void f(Clock c) {
  c.when();
} }
