from app import price, coverage_of
def test_price():
    # coverage.py measures this
    assert coverage_of(price) == 4
