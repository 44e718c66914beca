def test_a():
    result = f(2)
    assert result > 3
def f(x):
    return x * 2
