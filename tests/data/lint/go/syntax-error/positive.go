package a

func f( { } // expect: syntax-error
