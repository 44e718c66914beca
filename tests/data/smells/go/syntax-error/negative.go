package a

func f() {}
