class Negative { void f() {
  try { f(); } catch (Exception ignored) {}
  try { f(); } catch (RuntimeException e) {
    // The next run sees it.
  }
} }
