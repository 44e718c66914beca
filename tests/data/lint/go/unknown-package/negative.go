package a

import (
	"encoding/json"
	"example.com/shop/tax"
	"github.com/pkg/errors"
)

func f() { json.Marshal(errors.New(tax.Rate)) }
