//go:build plan9

package a

func sync() {
	panic("not implemented")
}
