import shop
from shop import price
def test_price():
    vars(shop)["price"] = max  # expect: patched-subject
    assert shop.price(2, 1) == 2
