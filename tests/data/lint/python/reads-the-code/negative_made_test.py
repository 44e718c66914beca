import inspect
from price import define
@define
class Price:
    count: int
def test_made():
    assert "self.count" in inspect.getsource(Price.__init__)
def test_listing():
    assert "price.py" in [one.name for one in define(open("."))]
