package a

func writeAdress() {} // expect: misspelt-identifier
