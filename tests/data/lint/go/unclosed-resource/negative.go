package a

import "os"

func f() error {
	file, err := os.Open("a")
	if err != nil {
		return err
	}
	defer file.Close()
	return nil
}
