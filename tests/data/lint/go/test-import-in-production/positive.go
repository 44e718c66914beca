package a

import "testing" // expect: test-import-in-production

func f(t *testing.T) {}
