def test_a():
    assert f(1) == 2
def f(x):
    return x * 2
