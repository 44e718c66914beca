package a

import "time"

func f() <-chan time.Time {
	return time.NewTicker(1).C // expect: subscription-not-cancelled
}
