import unittest

import pytest

from calc import double, half


def test_passes():
    assert double(0) == 0


def test_fails_with_an_assertion():
    assert double(1) == 2, "twice one"


def test_fails_with_an_error():
    half(4)


@pytest.mark.parametrize("n, name", [(0, "zero"), (1, "ö → ß"), (2, "a::b [c]")])
def test_table(n, name):
    assert double(n) == n + n


class TestGroup:
    class TestInner:
        def test_nested(self):
            assert double(2) == 4

    @pytest.mark.skip(reason="later")
    def test_skipped(self):
        pass


class TestOld(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(double(1), 2)

    def test_sub(self):
        for n in (0, 1):
            with self.subTest(n=n):
                self.assertEqual(double(n), n + n)


def test_größe_ist_falsch():
    assert double(1) == 2


@pytest.fixture
def no_database():
    raise RuntimeError("no database")


@pytest.fixture
def leaves_a_mess():
    yield
    raise OSError("cannot clean up")


def test_fixture_fails(no_database):
    pass


def test_teardown_fails(leaves_a_mess):
    pass


@pytest.mark.xfail(reason="known")
def test_expected_failure():
    assert False


@pytest.mark.xfail(strict=True, reason="known")
def test_unexpected_pass():
    pass


def test_skips_itself():
    pytest.skip("not here")
