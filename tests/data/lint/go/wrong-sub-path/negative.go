package a

import "example.com/shop/tax"

func f() { tax.Do() }
