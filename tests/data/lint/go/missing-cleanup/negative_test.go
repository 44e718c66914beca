package a

import "testing"

func TestA(t *testing.T) {
	t.Setenv("MODE", "x")
	if f(2) != 4 {
		t.Error("no")
	}
}
