from price import discount


def test_discount():
    for amount, rate in ((200, 10), (50, 0)):
        assert discount(amount, rate) == amount - amount * rate / 100
