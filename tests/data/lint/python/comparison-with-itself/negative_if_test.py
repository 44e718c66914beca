from app import price
def test_every_price():
    for count in (1, 2):
        if count > 1:
            assert price(count) == 4
def test_either():
    assert price(2) == 4 or price(2) == 5
