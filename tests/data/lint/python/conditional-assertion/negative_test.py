from app import load
def test_load():
    for row in load("x"):
        assert row["name"] == "x"
def test_callback():
    def check(row):
        if row:
            assert row["name"] == "x"
    assert load("x", check) == 2
