def test_a():  # expect: setup-only
    items = [2]
    items.append(4)
