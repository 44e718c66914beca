import unittest

from shop import money


class ParseTest(unittest.TestCase):
    def test_whole_amounts(self):
        self.assertEqual(money.parse("4"), 400)

    def test_cents(self):
        self.assertEqual(money.parse("4.05"), 405)

    def test_one_digit_behind_the_point(self):
        self.assertEqual(money.parse("4.5"), 450)

    def test_negative_amounts(self):
        self.assertEqual(money.parse("-0.05"), -5)

    def test_blanks_around(self):
        self.assertEqual(money.parse(" 1.00 "), 100)

    def test_three_digits_are_refused(self):
        with self.assertRaises(ValueError):
            money.parse("1.005")

    def test_words_are_refused(self):
        with self.assertRaises(ValueError):
            money.parse("free")


class ShowTest(unittest.TestCase):
    def test_shows_cents(self):
        self.assertEqual(money.show(405), "4.05")

    def test_shows_negative_amounts(self):
        self.assertEqual(money.show(-5), "-0.05")

    def test_shares_add_up(self):
        self.assertEqual(money.share(100, 3), [34, 33, 33])
