from app import fee


def quiet(check):
    try:  # expect: swallowed-assertion
        check()
    except AssertionError:
        return


def test_fee():
    def check():
        assert fee(1) == 77

    quiet(check)
