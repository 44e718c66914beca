from app import price
def test_price():
    return
    assert price(2) == 9  # expect: unreachable-assertion
def test_branch():
    if False:
        assert price(2) == 9  # expect: unreachable-assertion
