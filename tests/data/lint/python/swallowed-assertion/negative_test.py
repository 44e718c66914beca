import pytest
from app import price
def test_price():
    try:
        assert price(2) == 4
    except Exception as error:
        raise RuntimeError("no price") from error
def test_rejects():
    try:
        price(0)
    except ValueError:
        pass
    else:
        pytest.fail("it is accepted")
