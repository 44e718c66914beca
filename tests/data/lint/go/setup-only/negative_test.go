package a

import "testing"

func TestA(t *testing.T) {
	same(t, f(2), 4)
}
