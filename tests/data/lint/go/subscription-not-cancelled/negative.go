package a

import "time"

func f() {
	ticker := time.NewTicker(1)
	defer ticker.Stop()
	<-ticker.C
}
