package a

func f() { gock.New("x") } // expect: mock-in-production
