import unittest

from shop import pricing


class DiscountTest(unittest.TestCase):
    def test_few_pieces_cost_the_full_price(self):
        self.assertEqual(pricing.quantity_discount(9), 0)

    def test_exactly_ten_pieces(self):
        self.assertEqual(pricing.quantity_discount(10), 5)

    def test_exactly_fifty_pieces(self):
        self.assertEqual(pricing.quantity_discount(50), 10)

    def test_between_the_steps(self):
        self.assertEqual(pricing.quantity_discount(70), 10)

    def test_many_pieces(self):
        self.assertEqual(pricing.quantity_discount(500), 20)

    def test_discounts_round_to_the_nearest_cent(self):
        self.assertEqual(pricing.discounted(333, 50), 167)

    def test_no_discount(self):
        self.assertEqual(pricing.discounted(333, 0), 333)

    def test_more_than_everything_is_refused(self):
        with self.assertRaises(ValueError):
            pricing.discounted(100, 101)

    def test_line_price(self):
        self.assertEqual(pricing.line_price(100, 20), 1900)
