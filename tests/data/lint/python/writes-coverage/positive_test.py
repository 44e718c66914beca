import coverage  # expect: writes-coverage
import sys
from app import price
def test_price():
    coverage.Coverage.current().get_data().add_arcs({})  # expect: writes-coverage
    sys.modules['regreen_lines'].RAN.clear()  # expect: writes-coverage
    sys.settrace(None)  # expect: writes-coverage
    assert price(2) == 4
