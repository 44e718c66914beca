package a

import "testing"

func TestPay(t *testing.T) { // expect: over-mocked
	bank := &MockBank{}
	ledger := &MockLedger{}
	mailer := &MockMailer{}
	clock := &MockClock{}
	if pay(bank, ledger, mailer, clock) != 4 {
		t.Error("no")
	}
}
