from unittest.mock import ANY
from app import price
class Always:
    def __eq__(self, other):
        return True
def test_open():
    assert price(2) == 9 or True  # expect: comparison-with-itself
