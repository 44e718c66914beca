class Negative { Object f(String text) throws Exception {
  return model.eval(text);
} }
