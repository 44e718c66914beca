package a

import "testing"

func TestA(t *testing.T) { assert.Equal(t, 4, f(2)) }
func TestB(t *testing.T) { assert.Panics(t, f(3)) }
func TestC(t *testing.T) { assert.Equal(t, 0, f(0)) }
