class Negative { void f(String name) {
  System.out.println("password" + name);
} }
