seen = []  # expect: shared-mutable-state
def test_a():
    seen.append(2)
    assert seen == [2]
def test_b():
    assert len(seen) < 3
