package a

import "testing"

func TestA(t *testing.T) {
	send := &Mocked{}
	assert.Equal(t, 4, f(send))
	send.AssertExpectations(t)
}
