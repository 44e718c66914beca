from app import price
def test_price():
    first, second = (price(count) for count in (2, 2))
    assert first == second  # expect: comparison-with-itself
def test_asked():
    if price(2) == 5:
        assert price(2) == 5  # expect: unreachable-assertion
