package a

func IsOpen(a int) bool { return a > 1 }
