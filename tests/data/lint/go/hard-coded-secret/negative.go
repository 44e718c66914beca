package a

func f() string {
	name := "hT9kQ2vRxW7pLz4m"
	return name
}
