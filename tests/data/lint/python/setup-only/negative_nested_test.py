import pytest


@pytest.fixture
def test_apps(path):
    path.insert(0, "apps")


def test_command(runner):
    def test(name):
        print(name)

    assert runner(test) == "x"
