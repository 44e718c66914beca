def test_a():
    result = f(2)
    assert result is not None  # expect: defined-only
def f(x):
    return x * 2
