import pytest
from app import find
@pytest.mark.order(2)
def test_second():  # expect: order-dependence
    assert find(4) == "y"
