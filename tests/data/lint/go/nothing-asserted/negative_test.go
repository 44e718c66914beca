package a

import "testing"

func TestC(t *testing.T) { // expect: skipped-test
	t.Skip("needs a printer")
	Print(2)
}
