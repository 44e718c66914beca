package a

import "github.com/pkg/erors" // expect: misspelt-package

func f() { erors.New("a") }
