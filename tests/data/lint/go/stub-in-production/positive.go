package a

func f() { gock.New("x") } // expect: stub-in-production
