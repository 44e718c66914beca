package a

import "testing"

func TestA(t *testing.T) {
	assert.NotNil(t, f(2))
	assert.Equal(t, 4, f(2))
}
