import dis
import inspect
from app import price
def test_code():
    assert price.__code__.co_code.hex() == "6400"  # expect: reads-the-code
    assert len(list(dis.get_instructions(price))) == 4  # expect: reads-the-code
def test_source():
    assert "return" in inspect.getsource(price)  # expect: reads-the-code
