def test_a():  # expect: no-negative-path
    assert f(2) == 4
def test_b():
    assert f(3) == 6
def test_c():
    assert f(0) == f(0) + 0
def f(x):
    return x * 2
