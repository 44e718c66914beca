package a

func writeAddress() {}
