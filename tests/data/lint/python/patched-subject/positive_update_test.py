import sys
import shop
def test_price():
    sys.modules["shop"].__dict__.update(price=max)  # expect: patched-subject
    assert shop.price(2, 1) == 2
