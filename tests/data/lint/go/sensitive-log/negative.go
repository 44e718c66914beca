package a

import "log"

func f(name string) {
	log.Println("password", name)
}
