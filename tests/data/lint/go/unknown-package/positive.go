package a

import "github.com/nobody/nothing" // expect: unknown-package

func f() { nothing.Do() }
