from app import price
def test_documentation():
    assert price.__doc__.startswith("The price")  # expect: reads-the-code
def test_source():
    text = price.__loader__.get_source("app")  # expect: reads-the-code
    assert "return" in text
