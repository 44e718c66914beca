from price import discount


def cases(first, last):
    if first > last:
        raise ValueError("nothing between them")
    return [(200 * percent, percent) for percent in range(first, last)]


def test_discount():
    for price, percent in cases(1, 3):
        assert discount(price, percent) == price - 2 * percent * percent
