def test_a():
    result = f(2)
    assert result is not None
    assert result == 4
def f(x):
    return x * 2
