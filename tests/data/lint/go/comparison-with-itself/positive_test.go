package a

import "testing"

func TestA(t *testing.T) {
	got := Price(2)
	if got != Price(2) {
		t.Errorf("got %d", got) // expect: comparison-with-itself
	}
}
