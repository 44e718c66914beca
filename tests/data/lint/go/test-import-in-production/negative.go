package a

import "fmt"

func f() { fmt.Println(1) }
