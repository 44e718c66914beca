def test_a():
    result = f(2) + f(3)
    assert result == 10 and result > 2
def test_b():
    result = f(2) + f(4)
    assert result == 12 and result > 2
def f(x):
    return x * 2
