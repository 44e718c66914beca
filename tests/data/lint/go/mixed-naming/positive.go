package a

func first_thing() {} // expect: mixed-naming
func second_thing() {}
func thirdThing() {}
func fourthThing() {}
