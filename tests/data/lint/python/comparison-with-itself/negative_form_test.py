from app import Point, money, price, score
def test_text():
    assert str(money(3)).startswith("$")
def test_among():
    assert str(price(2)) in ("4", "5")
def test_written():
    assert repr(Point(1, 2)).endswith(")")
def test_filled():
    assert str(price(2))
def test_longer():
    a, b = price(2), price(1)
    assert len(a) - len(b) >= 0
def test_empty_answer_is_rejected():
    r = price(3)
    assert len(r) == 3 and score(r) >= 0
def test_inner():
    assert all(any(one for one in []) == two for two in price(2))
