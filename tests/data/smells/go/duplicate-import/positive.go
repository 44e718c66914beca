package a

import (
	"fmt"
	"fmt" // expect: duplicate-import
)

func f() { fmt.Println(1) }
