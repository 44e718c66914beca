import org.junction.Other;
class Negative { void f() { Other.go(); } }
