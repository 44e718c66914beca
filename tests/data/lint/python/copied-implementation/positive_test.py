from price import discount


def expected(amount, rate):  # expect: copied-implementation
    if rate > 100:
        raise ValueError("more than all")
    return amount * (100 - rate) / 100


def test_discount():
    for percent in (0, 10, 100):
        assert discount(200, percent) == expected(200, percent)
