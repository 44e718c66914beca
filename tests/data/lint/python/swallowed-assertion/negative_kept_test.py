from app import price


def logged(function):
    def run():
        try:
            return function()
        except AssertionError:
            print("failed")
            raise

    return run


@logged
def test_price():
    assert price(2) == 4


def test_without_a_problem():
    problem = None
    try:
        assert price(2) == 4
    except Exception as error:
        problem = error
    assert problem is None
