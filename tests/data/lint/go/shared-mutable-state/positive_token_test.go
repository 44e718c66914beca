package a

import "testing"

var token string // expect: shared-mutable-state

func TestAdd(t *testing.T) {
	token = add("x")
	if token != "3" {
		t.Error("no")
	}
}

func TestFind(t *testing.T) {
	if find(token) != "x" {
		t.Error("no")
	}
}
