package a

import "testing"

var count = 0 // expect: shared-mutable-state

func TestA(t *testing.T) {
	count++
	if count != 1 {
		t.Error("no")
	}
}

func TestB(t *testing.T) {
	if count > 7 {
		t.Error("no")
	}
}
