package a

import "testing"

func TestA(t *testing.T) {
	result := f(2) + f(3) + f(4)
	assert.Equal(t, 18, result)
}
func TestB(t *testing.T) {
	result := f(2) + f(3) + f(5)
	assert.Equal(t, 20, result)
}
