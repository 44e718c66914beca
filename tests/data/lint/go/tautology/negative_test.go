package a

import "testing"

func TestA(t *testing.T) {
	assert.Equal(t, 2, f(1))
}
