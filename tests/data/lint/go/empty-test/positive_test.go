package a

import "testing"

func TestA(t *testing.T) {} // expect: empty-test
