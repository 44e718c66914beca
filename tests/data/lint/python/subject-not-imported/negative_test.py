from negative import f
def test_a():
    assert f(2) == 4
