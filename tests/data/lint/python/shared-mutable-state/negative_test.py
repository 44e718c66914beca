SEEN = [2]
def test_a():
    seen = []
    seen.append(2)
    assert seen == SEEN
