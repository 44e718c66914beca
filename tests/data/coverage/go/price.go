package price

import "errors"

// Discount takes percent off a price.
func Discount(price, percent int) (int, error) {
	if percent > 100 {
		return 0, errors.New("more than all")
	}
	return price * (100 - percent) / 100, nil
}

// Half is half of a price.
func Half(price int) int {
	return price / 2
}
