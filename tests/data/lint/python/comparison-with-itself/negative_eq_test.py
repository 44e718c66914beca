from app import price
def test_price_eq_price():
    assert price(2) == price(2)
