from app import Cart, price
def test_removing_nothing_keeps_the_total():
    cart = Cart()
    before = cart.total()
    cart.remove("missing")
    assert cart.total() == before
def test_prices():
    prices = {1: 2, 3: 6}
    for count, amount in prices.items():
        assert price(count) == amount
