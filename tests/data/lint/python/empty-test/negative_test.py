def test_a():
    assert f(2) == 4
def f(x):
    return x * 2
