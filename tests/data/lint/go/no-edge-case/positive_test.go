package a

import "testing"

func TestA(t *testing.T) { assert.Equal(t, 4, f(2)) } // expect: no-edge-case
func TestB(t *testing.T) { assert.Equal(t, 6, f(3)) }
func TestError(t *testing.T) { assert.Equal(t, 10, f(5)) }
