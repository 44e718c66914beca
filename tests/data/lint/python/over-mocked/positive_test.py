from unittest.mock import Mock, patch
from app import pay
def test_pay():  # expect: over-mocked
    bank = Mock()
    ledger = Mock()
    mailer = Mock()
    clock = Mock()
    pay(bank, ledger, mailer, clock)
    assert bank.total == 0
@patch("app.bank")
@patch("app.ledger")
@patch("app.mailer")
@patch("app.clock")
def test_decorated(clock, mailer, ledger, bank):  # expect: over-mocked
    assert pay() == 0
