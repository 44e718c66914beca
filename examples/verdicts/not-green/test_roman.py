import unittest

from roman import roman


class RomanTest(unittest.TestCase):
    def test_ones(self):
        self.assertEqual(roman(3), "III")

    def test_subtraction(self):
        self.assertEqual(roman(1994), "MCMXCIV")
