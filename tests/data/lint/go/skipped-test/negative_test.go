package a

import "testing"

func TestA(t *testing.T) {
	if f(2) != 4 {
		t.Error("no")
	}
}
