package a

import "testing"

func TestA(t *testing.T) {
	for _, count := range []int{1, 2} {
		if got := Price(count); got != count*2 {
			t.Errorf("got %d", got)
		}
	}
}
