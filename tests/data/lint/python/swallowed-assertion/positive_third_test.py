import contextlib
from app import price
def test_suppressed():
    with contextlib.suppress(AssertionError):  # expect: swallowed-assertion
        assert price(2) == 1
