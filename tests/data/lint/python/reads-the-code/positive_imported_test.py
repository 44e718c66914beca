import pathlib
import pricelist
from app import (
    path,
    price,
)
from app import pricing as costs
def test_documentation():
    assert path.__doc__ == "A path."  # expect: reads-the-code
    assert price.__doc__ == "A price."  # expect: reads-the-code
    assert costs.__doc__ == "Costs."  # expect: reads-the-code
