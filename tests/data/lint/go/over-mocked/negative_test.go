package a

import "testing"

func TestPay(t *testing.T) {
	bank := &MockBank{}
	if pay(bank, Ledger{}) != 4 {
		t.Error("no")
	}
}
