import inspect
from pathlib import Path
import price
def test_attribute():
    assert "return" in getattr(inspect, "get" + "source")(price)  # expect: reads-the-code
def test_every_source():
    texts = [one.read_text() for one in Path("src").glob("*.py")]  # expect: reads-the-code
    assert any("return 2" in text for text in texts)
