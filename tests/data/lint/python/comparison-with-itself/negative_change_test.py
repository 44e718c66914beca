from app import events, price, step
def test_empty_count_is_rejected():
    count = 0
    for count, _ in enumerate(price(2)):
        pass
    assert count == 0
def test_stepped():
    state = 0
    state, out = step(state)
    assert state == 0
def test_named():
    last = 0
    while (last := price(last)) > 1:
        pass
    assert last == 0
def test_other_number():
    count = 0
    events(lambda: globals().update(count=3))
    assert count == 3
