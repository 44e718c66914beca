import copy
from app import Cart, clear, price
def same(one, other):
    return one == other
def wanted(count):
    return count * 2
def test_empty_helper_is_rejected():
    assert same(price(2), 4)
def test_computed():
    expected = wanted(3)
    assert price(3) == expected
def test_two_objects():
    assert Cart(2) == Cart(2)
def test_distinct():
    assert Cart(2) is not Cart(2)
def test_before_and_after():
    before = price(2)
    clear()
    after = price(2)
    assert before == after
def test_called_later():
    called = []
    price(called.append)
    assert called == [2]
def test_counted():
    count = 0
    def add(amount):
        nonlocal count
        count += amount
    price(add)
    assert count == 2
def test_lambda():
    twice = lambda count: price(count) * 2
    assert twice(2) == 8
    assert twice
def test_copies():
    cart = Cart(2)
    assert cart == copy.copy(cart)
def test_list_of_lists():
    rows = [list("a"), list("b")]
    assert list(price(rows)) == rows[1:]
