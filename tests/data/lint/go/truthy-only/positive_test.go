package a

import "testing"

func TestA(t *testing.T) {
	result := f(2)
	assert.True(t, result) // expect: truthy-only
}
