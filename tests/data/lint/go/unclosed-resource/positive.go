package a

import "os"

func f() {
	file, err := os.Open("a") // expect: unclosed-resource
	if err == nil {
		file.Name()
	}
}
