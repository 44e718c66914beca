class Negative { int f() { return 1; } }
