from unittest.mock import Mock
from app import pay
def test_pay():
    bank = Mock()
    ledger = [3]
    assert pay(bank, ledger) == 3
def test_all():
    bank, ledger, mailer, clock = Mock(), Mock(), Mock(), Mock()
    assert pay(bank, ledger) == 1
    assert pay(mailer, ledger) == 2
    assert pay(clock, ledger) == 3
    assert pay(clock, mailer) == 4
