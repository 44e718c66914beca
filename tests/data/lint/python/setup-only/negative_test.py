def check(x):
    assert x == 4
def test_a():
    check(f(2))
def test_b():
    with pytest.raises(ValueError):
        f(2)
import pytest
def f(x):
    return x * 2
