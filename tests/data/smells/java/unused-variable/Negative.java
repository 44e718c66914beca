class Negative { private int field = 1; int f() {
  int tax = 3;
  Runnable r = () -> System.out.println(tax);
  r.run();
  return field;
} }
