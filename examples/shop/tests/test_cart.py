import unittest

from shop.cart import Cart
from tests.test_catalogue import catalogue


class CartTest(unittest.TestCase):
    def setUp(self):
        self.cart = Cart(catalogue())

    def test_an_empty_cart_costs_nothing(self):
        self.assertEqual((self.cart.pieces(), self.cart.net()), (0, 0))

    def test_pieces_add_up(self):
        self.cart.put("tea", 2)
        self.cart.put("tea")
        self.cart.put("cup")
        self.assertEqual(self.cart.pieces(), 4)

    def test_unknown_products_cannot_be_put(self):
        with self.assertRaises(KeyError):
            self.cart.put("pot")

    def test_no_piece_cannot_be_put(self):
        with self.assertRaises(ValueError):
            self.cart.put("tea", 0)

    def test_taking_the_last_piece_removes_the_line(self):
        self.cart.put("tea", 2)
        self.cart.take("tea", 2)
        self.assertEqual(self.cart.lines, {})

    def test_net_of_one_line(self):
        self.cart.put("tea", 2)
        self.assertEqual(self.cart.net(), 900)

    def test_net_of_several_lines(self):
        self.cart.put("tea", 2)
        self.cart.put("cup", 1)
        self.cart.put("book", 1)
        self.assertEqual(self.cart.net(), 3300)

    def test_gross_of_several_lines(self):
        self.cart.put("tea", 2)
        self.cart.put("cup", 1)
        self.assertEqual(self.cart.gross(), 963 + 1071)
