import unittest

from price import total


class TotalTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([2, 3]), 5)

    def test_discount(self):
        self.assertEqual(total([50, 50], 10), 90)
