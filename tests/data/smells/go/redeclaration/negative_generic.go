package a

type Cache[K comparable, V any] struct{ m map[K]V }
type ErrCache[K comparable, V any] struct{ m map[K]V }

func (c *Cache[K, V]) Get(key K) V    { return c.m[key] }
func (c *ErrCache[K, V]) Get(key K) V { return c.m[key] }
