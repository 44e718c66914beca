package a

import (
	"fmt"
	other "fmt"
)

func f() { fmt.Println(1); other.Println(2) }
