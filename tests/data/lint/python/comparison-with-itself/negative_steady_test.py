from app import Account, balance, open_account, pay
def test_empty_withdrawal():
    account = open_account(100)
    before = account.balance
    ok = account.withdraw(50)
    assert account.balance == before
def test_asked():
    account = open_account(100)
    before = balance(account)
    if pay(account, 50):
        assert balance(account) == before
