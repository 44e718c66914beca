package a

func f(t int) { gomock.NewController(t) } // expect: mock-in-production
