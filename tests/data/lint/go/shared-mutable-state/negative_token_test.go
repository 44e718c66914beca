package a

import "testing"

var none string

func TestAdd(t *testing.T) {
	token := add("x")
	if token == none {
		t.Error("no")
	}
}

func TestFind(t *testing.T) {
	token := add("x")
	if find(token) != "x" {
		t.Error("no")
	}
}
