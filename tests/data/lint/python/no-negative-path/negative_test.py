import pytest
def test_a():
    assert f(2) == 4
def test_b():
    assert f(0) + 0 == f(0)
def test_c():
    with pytest.raises(TypeError):
        f({})
def f(x):
    return x * 2
