import ast
import inspect
from app import price, parse
def test_price():
    assert str(inspect.signature(price)) == "(count)"
    # price.__code__ is nothing to look at
def test_parse():
    assert isinstance(parse("a"), ast.Module)
    assert ast.parse("a = 1").body[0].lineno == 1
