module example.com/shop

require github.com/pkg/errors v0.9.1
