package a

import (
	"fmt"
	"strings" // expect: unused-import
)

func f() { fmt.Println(1) }
