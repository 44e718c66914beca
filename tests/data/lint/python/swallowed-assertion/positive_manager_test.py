from app import price
class Quiet:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        return True
def test_price():
    with Quiet():  # expect: swallowed-assertion
        assert price(2) == 5
