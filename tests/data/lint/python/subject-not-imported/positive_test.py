def test_a():  # expect: subject-not-imported
    assert sum([2, 2]) == 4
