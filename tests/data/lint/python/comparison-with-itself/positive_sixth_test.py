from app import price
def test_either():
    assert price(2) is not None or price(2) is None  # expect: comparison-with-itself
