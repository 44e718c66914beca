package a

import "testing"

func TestA(t *testing.T) {
	assert.NotNil(t, f(2)) // expect: defined-only
}
