def test_a():
    result = f(2)
    assert result  # expect: truthy-only
def f(x):
    return x * 2
