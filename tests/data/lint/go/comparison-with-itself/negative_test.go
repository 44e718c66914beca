package a

import "testing"

func TestA(t *testing.T) {
	got := Price(2)
	if got != 4 {
		t.Errorf("got %d", got)
	}
}

func TestStable(t *testing.T) {
	if got := Price(2); got != Price(2) {
		t.Errorf("got %d", got)
	}
}
