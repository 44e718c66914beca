from app import price
CASES = [(1, 9), (2, 8)]
def test_no_case_is_rejected():
    for count, wanted in CASES[2:]:
        assert price(count) == wanted  # expect: unreachable-assertion
def test_empty_list():
    cases = []
    for count in cases:
        assert price(count) == 9  # expect: unreachable-assertion
def test_empty_range():
    for count in range(0):
        assert price(count) == 9  # expect: unreachable-assertion
def test_guarded():
    if price(2) != 9:
        return
    assert price(2) == 9  # expect: unreachable-assertion
def test_broken_off():
    while True:
        break
        assert price(2) == 9  # expect: unreachable-assertion
def test_never_called():
    def check():
        assert price(2) == 9  # expect: unreachable-assertion
    price(2)
