from app import price


def check(value):
    assert value == 4


def test_price():
    check(price(2))
