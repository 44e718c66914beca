from app import other, price
def total(count):
    return price(count)
def same(one, other):
    return one == other
class Helper:
    def wanted(self, count):
        return price(count)
def test_empty_method_is_rejected():
    assert price(2) == other.total(2)
def test_method():
    assert price(2) == wanted(2)
def test_keywords():
    assert same(other=4, one=price(2))
