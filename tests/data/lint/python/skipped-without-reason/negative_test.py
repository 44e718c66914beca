import pytest
@pytest.mark.parametrize("x", [2])
def test_a(x):
    assert f(x) == 4
def f(x):
    return x * 2
