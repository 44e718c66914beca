from price import discount, kinds, limits


def test_discount():
    for amount, rate in ((200, 10), (50, 0)):
        assert discount(amount, rate) == amount - amount * rate / 100


def test_kinds():
    assert kinds() == ["dear", "cheap", "gift", "none"]
    assert limits() == {"dear": [5, 10], "cheap": [1, 2]}
