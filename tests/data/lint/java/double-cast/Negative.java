class Negative { String f(Object a) {
  return (String) a;
} }
