import unittest
from app import price
def test_empty_answer_is_rejected():
    got = price(2)
    assert got or not got  # expect: comparison-with-itself
def test_among():
    got = price(2)
    assert got in [got, 99]  # expect: comparison-with-itself
def test_chosen():
    got = price(2)
    assert got == 99 if got == 99 else True  # expect: comparison-with-itself
def test_all_of_none():
    assert all(price(count) == 99 for count in [])  # expect: comparison-with-itself
class TestPrice(unittest.TestCase):
    def test_type(self):
        self.assertIsInstance(price(2), object)  # expect: comparison-with-itself
    def test_size(self):
        self.assertGreaterEqual(abs(price(2)), 0)  # expect: comparison-with-itself
