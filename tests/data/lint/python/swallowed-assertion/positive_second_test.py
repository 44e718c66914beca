from app import price
def test_shown():
    try:  # expect: swallowed-assertion
        assert price(2) == 4
    except:
        print("oh")
