package a

import "testing"

func TestA(t *testing.T) {
	send := &Mocked{}
	f(send)
	send.AssertExpectations(t) // expect: mock-only
}
