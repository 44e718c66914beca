package a

import "testing"

func TestA(t *testing.T) { // expect: skipped-without-reason
	t.SkipNow()
}
