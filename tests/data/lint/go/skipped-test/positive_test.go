package a

import "testing"

func TestA(t *testing.T) { // expect: skipped-test
	t.Skip("needs a server")
}
