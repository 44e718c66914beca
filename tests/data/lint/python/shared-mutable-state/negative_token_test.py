from app import add, find
token = None
def setup_function():
    global token
    token = add("x")
def test_find():
    assert find(token) == "x"
def test_other():
    token = add("y")
    assert find(token) == "y"
