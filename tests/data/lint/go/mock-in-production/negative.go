package a

func f(t int) { mocked.Controller(t) }
