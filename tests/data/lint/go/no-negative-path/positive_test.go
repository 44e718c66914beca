package a

import "testing"

func TestA(t *testing.T) { assert.Equal(t, 4, f(2)) } // expect: no-negative-path
func TestB(t *testing.T) { assert.Equal(t, 6, f(3)) }
func TestC(t *testing.T) { assert.Equal(t, 0, f(0)) }
