from app import price
def test_price():
    for count in [1, 2]:
        assert price(count) == count * 2
    if price(2) == 4:
        return
    assert price(2) == 4
