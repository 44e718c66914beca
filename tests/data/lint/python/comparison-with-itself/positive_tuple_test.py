from app import price
def test_price():
    assert (price(2) == 5, "the price of two")  # expect: comparison-with-itself
