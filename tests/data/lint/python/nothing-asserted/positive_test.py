def test_a():  # expect: nothing-asserted
    items = [2]
    items.append(4)
