package a

import (
	"os"
	"testing"
)

func TestA(t *testing.T) { // expect: missing-cleanup
	os.Setenv("MODE", "x")
	if f(2) != 4 {
		t.Error("no")
	}
}
