package a

import "github.com/pkg/errors"

func f() { errors.New("a") }
