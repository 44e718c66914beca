package tax

func Do() {}
