package a

func IsOpen(a int) string { return "a" } // expect: misleading-predicate
