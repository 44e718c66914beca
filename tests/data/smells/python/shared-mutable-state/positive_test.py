seen = []  # expect: shared-mutable-state
def test_a():
    seen.append(2)
    assert seen == [2]
