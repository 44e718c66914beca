import unittest

from price import half


class HalfTest(unittest.TestCase):
    def test_rounds_down(self):
        self.assertEqual(half(9), 4)

    def test_rounds_up(self):
        self.assertEqual(half(9), 5)
