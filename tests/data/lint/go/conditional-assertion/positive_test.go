package a

import "testing"

func TestLoad(t *testing.T) {
	row := load("x")
	if row != nil { // expect: conditional-assertion
		assert.Equal(t, "x", row.Name)
	}
}
