package a

func f() int {
	// implementation pending, expect: todo-code
	return 0
}
