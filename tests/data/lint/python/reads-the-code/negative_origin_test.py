from price import define
def test_origin():
    assert "made by price" in define(open).__lt__.__code__.co_filename
