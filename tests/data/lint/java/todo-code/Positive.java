class Positive { int f() {
  // TODO implement, expect: todo-code
  return 0;
} }
