from unittest.mock import ANY
from app import price
class Always:
    def __eq__(self, other):
        return True
def test_price():
    assert price(2) == price(2)  # expect: comparison-with-itself
def test_twice():
    first = price(2)
    second = price(2)
    assert first == second  # expect: comparison-with-itself
