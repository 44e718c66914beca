package a

import (
	"io"
	"os"
)

func read(name string, rc io.ReadCloser) ([]byte, error) {
	if rc == nil {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		rc = f
	}
	defer rc.Close()
	return io.ReadAll(rc)
}
