from app import price
def test_every_price():
    expected = {count: price(count) for count in (1, 3)}
    for count, amount in expected.items():
        assert price(count) == amount  # expect: comparison-with-itself
def test_check():
    check = lambda: price(2) == 5
    assert check  # expect: comparison-with-itself
