class Positive { int f( { return 1; } } // expect: syntax-error
