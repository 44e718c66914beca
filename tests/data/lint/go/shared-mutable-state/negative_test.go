package a

import "testing"

var limit = 1

func TestA(t *testing.T) {
	count := 0
	count++
	if count != limit {
		t.Error("no")
	}
}
