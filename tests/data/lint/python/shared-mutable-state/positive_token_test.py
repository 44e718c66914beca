from app import add, find
token = None  # expect: shared-mutable-state
def test_add():
    global token
    token = add("x")
    assert token == 3
def test_find():
    assert find(token) == "x"
