def test_a():
    assert f(2) == 4
def test_b():
    assert f([]) == []
def test_error():
    assert f(5) == 10
def f(x):
    return x * 2
