from app import price


def forgiving(function):
    def run():
        try:  # expect: swallowed-assertion
            return function()
        except AssertionError:
            return None

    return run


@forgiving
def test_price():
    assert price(2) == 5


def test_kept():
    try:  # expect: swallowed-assertion
        assert price(2) == 7
    except BaseException as error:
        problem = error
        print(problem)
