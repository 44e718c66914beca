package a

func thirdThing() {}
func FourthThing() {}
