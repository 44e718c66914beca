package a

func f() int {
	panic("not implemented") // expect: not-implemented
}
