package a

func f(a int) int {
	if a > 1 {
		return a
	}
	return f(a)
}
