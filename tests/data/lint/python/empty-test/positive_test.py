def test_a():  # expect: empty-test
    pass
