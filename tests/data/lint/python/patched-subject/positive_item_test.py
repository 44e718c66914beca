import shop


def test_price(monkeypatch):
    monkeypatch.setitem(vars(shop), "price", lambda count: 4)  # expect: patched-subject
    assert shop.price(2) == 4
