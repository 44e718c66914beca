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

func TestCounted(t *testing.T) {
	count := 0
	Each(func() { count++ })
	if count != 0 {
		t.Errorf("got %d", count)
	}
}

func TestRead(t *testing.T) {
	n := 0
	Read(&n)
	if n != 0 {
		t.Errorf("got %d", n)
	}
}
