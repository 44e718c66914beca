package a

func f() { clock.New("x") }
