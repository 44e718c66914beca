class Positive { String f(Integer a) {
  return (String) (Object) a; // expect: double-cast
} }
