from price import discount


def test_discount():
    for amount, rate in ((200, 10), (50, 0)):
        assert discount(amount, rate) == amount * (100 - rate) / 100  # expect: copied-implementation
