package a

import "testing"

func TestA(t *testing.T) {
	assert.True(t, f(2) > 3)
}
