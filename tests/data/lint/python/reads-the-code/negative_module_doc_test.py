import price
def test_documentation():
    assert price.__doc__ == "Prices."
