package a

type A struct{}
type B struct{}

func (a A) f() int { return 1 }
func (b *B) f() int { return 2 }
func init() {}
func init() {}
