import pytest
from app import price
def test_price():
    with pytest.raises(Exception):  # expect: swallowed-assertion
        assert price(2) == 9
