def test_a():  # expect: no-edge-case
    assert f(2) == 4
def test_b():
    assert f(3) == 6
def test_error():
    assert f(5) == 10
def f(x):
    return x * 2
