import pkgutil


def test_formula():
    text = pkgutil.get_data("shop", "price.py")  # expect: reads-the-code
    assert b"count * 2" in text
