from app import run


class Namespace:
    called = False


def test_run():
    run(Namespace)
    assert Namespace.called
