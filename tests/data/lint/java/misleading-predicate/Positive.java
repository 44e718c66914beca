class Positive { String isOpen() { return "a"; } } // expect: misleading-predicate
