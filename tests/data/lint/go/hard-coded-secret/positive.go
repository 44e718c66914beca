package a

func f() string {
	password := "hT9kQ2vRxW7pLz4m" // expect: hard-coded-secret
	return password
}
