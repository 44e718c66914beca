package a

func f(a int) int {
	return a
	f(a) // expect: unreachable-code
}
