import click


def test_help(runner):
    @click.command()
    def test(count):
        pass

    assert runner.invoke(test).exit_code == 0


def test_documented():
    """
    >>> 1 + 1
    2
    """
