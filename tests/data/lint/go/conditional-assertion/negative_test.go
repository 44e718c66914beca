package a

import "testing"

func TestLoad(t *testing.T) {
	row, err := load("x")
	if err != nil {
		t.Fatal(err)
	}
	if row.Name != "x" {
		t.Errorf("name %s", row.Name)
	}
}
