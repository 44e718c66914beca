from app import price
def test_price():
    assert price(2) == 4
    first = price(2)
    first = first + price(1)
    assert first == price(3)
def test_price_is_deterministic():
    assert price(2) == price(2)
