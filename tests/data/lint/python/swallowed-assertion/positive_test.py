from app import price
def test_price():
    try:  # expect: swallowed-assertion
        assert price(2) == 4
    except Exception:
        pass
def test_bare():
    try:  # expect: swallowed-assertion
        assert price(2) == 4
    except:
        done = True
