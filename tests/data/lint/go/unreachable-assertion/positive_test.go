package a

import "testing"

func TestA(t *testing.T) {
	if false {
		t.Fatal(Price(2)) // expect: unreachable-assertion
	}
}

func TestB(t *testing.T) {
	for _, one := range []struct{ count, wanted int }{} {
		if got := Price(one.count); got != one.wanted {
			t.Errorf("got %d", got) // expect: unreachable-assertion
		}
	}
}
