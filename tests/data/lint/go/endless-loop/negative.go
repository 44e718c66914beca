package a

func f(a chan int) {
	for {
		if <-a > 1 {
			return
		}
	}
}
