import copy
import unittest
from app import Oracle, price
def same(one, other):
    return one == other
def wanted(count):
    return price(count)
def test_empty_helper_is_rejected():
    assert same(price(2), price(2))  # expect: comparison-with-itself
def test_helper():
    expected = wanted(3)
    assert price(3) == expected  # expect: comparison-with-itself
def test_alias():
    got = price(2)
    other = got
    assert got == other  # expect: comparison-with-itself
def test_list():
    found = price(2)
    assert found == copy.deepcopy(found)  # expect: comparison-with-itself
def test_list_of_list():
    found = price(2)
    assert list(list(found)) == list(found)  # expect: comparison-with-itself
def test_number():
    price(2)
    total = 3 + 4
    assert total == 7  # expect: comparison-with-itself
