from app import load
def test_load():
    row = load("x")
    if row:  # expect: conditional-assertion
        assert row["name"] == "x"
