class Positive { void f(String password) {
  System.out.println(password); // expect: sensitive-log
} }
