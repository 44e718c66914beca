from unittest.mock import ANY
from app import price
class Always:
    def __eq__(self, other):
        return True
def test_variable():
    first = price(2)
    assert first == first  # expect: comparison-with-itself
def test_any():
    assert price(2) == ANY  # expect: comparison-with-itself
    assert price(2) == Always()  # expect: comparison-with-itself
