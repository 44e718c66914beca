class Positive { Object f(String text) throws Exception {
  return engine.eval(text); // expect: dynamic-evaluation
} }
