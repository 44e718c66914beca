from app import price


def check(value):
    return value == value


def test_price():  # expect: setup-only
    check(price(2))
