from shop import fetch
def test_a():
    assert fetch(2) == 4  # expect: async-not-awaited
