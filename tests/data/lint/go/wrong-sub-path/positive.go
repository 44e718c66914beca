package a

import "example.com/shop/taxes" // expect: wrong-sub-path

func f() { taxes.Do() }
