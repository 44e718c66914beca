from app import price, total
def quotient(one, other=2):
    return price(other) == price(one)
class TestPrice:
    def wanted(self, count):
        return price(count)
    def test_empty_method_is_rejected(self):
        assert price(2) == self.wanted(2)  # expect: comparison-with-itself
    def test_keywords(self):
        assert quotient(other=3, one=3)  # expect: comparison-with-itself
    def test_sum(self):
        items = [1, 2]
        expected = total(items)
        assert total(items) == expected  # expect: comparison-with-itself
    def test_object(self):
        got = price(2)
        assert isinstance(got, object)  # expect: comparison-with-itself defined-only
    def test_class(self):
        assert hasattr(price(2), "__class__")  # expect: comparison-with-itself defined-only
    def test_check(self):
        check = lambda: price(2) == 9
        assert callable(check)  # expect: comparison-with-itself defined-only
