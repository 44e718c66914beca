package a

import (
	_ "embed"
	"fmt"
	yaml "strings"
)

func f() { fmt.Println(yaml.ToUpper("a")) }
