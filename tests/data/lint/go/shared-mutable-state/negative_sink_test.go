package a

import "testing"

var sink int

func TestSum(t *testing.T) {
	sink = sum(1, 2)
	if sink != 3 {
		t.Error("no")
	}
}

func TestNone(t *testing.T) {
	sink = sum(0, 0)
	if sum(0, 0) != 0 {
		t.Error("no")
	}
}
