def test_a():
    result = f(2) + f(3)
    assert result == 10 and result > 2
def test_b():  # expect: copied-body
    result = f(2) + f(3)
    assert result == 10 and result > 2
def f(x):
    return x * 2
