package a

import "log"

func f(password string) {
	log.Println(password) // expect: sensitive-log
}
