package a

func f(a int) int {
	if a < 0 {
		panic("negative")
	}
	return a
}
