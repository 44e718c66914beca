import sys
from app import load
def test_here():
    row = load("x")
    if sys.platform == "linux":
        assert row["root"] == "/"
    assert row
