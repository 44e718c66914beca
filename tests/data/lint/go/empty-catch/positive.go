package a

func f(err error) {
	if err != nil { // expect: empty-catch
	}
}
