package a

func f(a int) {
	for { // expect: endless-loop
		a++
	}
}
