import pytest


@pytest.mark.skip(reason="needs a printer")
def test_a():  # expect: skipped-test
    show(2)
