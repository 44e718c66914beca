class Positive { void f() {
  try { f(); } catch (Exception e) {} // expect: empty-catch
} }
