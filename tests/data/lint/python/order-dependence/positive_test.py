from app import add, find
token = None
def test_add():
    global token
    token = add("x")
    assert token == 3
def test_find():  # expect: order-dependence
    assert find(token) == "x"
