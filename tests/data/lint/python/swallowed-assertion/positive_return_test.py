from app import price
def test_price():
    try:  # expect: swallowed-assertion
        assert price(2) == 5
    except Exception:
        return
