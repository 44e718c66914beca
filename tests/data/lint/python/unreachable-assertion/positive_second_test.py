from app import price
def test_loop():
    for count in []:
        assert price(count) == 9  # expect: unreachable-assertion
