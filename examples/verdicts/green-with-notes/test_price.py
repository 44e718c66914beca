import unittest

from price import mirrored, total


class TotalTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([2, 3]), 5)

    def test_discount(self):
        self.assertEqual(total([50, 50], 10), 90)

    def test_mirror(self):
        self.assertEqual(mirrored([2, 3]), 5)
