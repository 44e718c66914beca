import unittest

from shop import tax


class TaxTest(unittest.TestCase):
    def test_general_rate(self):
        self.assertEqual(tax.tax_of(1000, "general"), 190)

    def test_reduced_rate(self):
        self.assertEqual(tax.tax_of(1000, "food"), 70)

    def test_unknown_categories_are_general(self):
        self.assertEqual(tax.rate("toys"), 19)

    def test_gross(self):
        self.assertEqual(tax.gross(450, "food"), 482)

    def test_net_of_gross(self):
        self.assertEqual(tax.net_of(1190, "general"), 1000)
