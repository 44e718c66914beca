import unittest

from shop import importer
from shop.inventory import Inventory, OutOfStock


class InventoryTest(unittest.TestCase):
    def setUp(self):
        self.inventory = Inventory(low=2)
        self.inventory.restock("tea", 10)

    def test_what_is_there_is_available(self):
        self.assertEqual(self.inventory.available("tea"), 10)

    def test_unknown_products_are_not_available(self):
        self.assertEqual(self.inventory.available("cup"), 0)

    def test_reserved_pieces_are_not_available(self):
        self.inventory.reserve("tea", 4)
        self.assertEqual(self.inventory.available("tea"), 6)

    def test_more_than_available_cannot_be_reserved(self):
        with self.assertRaises(OutOfStock):
            self.inventory.reserve("tea", 11)

    def test_released_pieces_are_available_again(self):
        self.inventory.reserve("tea", 4)
        self.inventory.release("tea", 3)
        self.assertEqual(self.inventory.available("tea"), 9)

    def test_shipping_takes_reserved_pieces(self):
        self.inventory.reserve("tea", 4)
        self.inventory.ship("tea", 4)
        self.assertEqual((self.inventory.stock["tea"], self.inventory.available("tea")), (6, 6))

    def test_only_reserved_pieces_are_shipped(self):
        with self.assertRaises(OutOfStock):
            self.inventory.ship("tea", 1)

    def test_nothing_cannot_be_restocked(self):
        with self.assertRaises(ValueError):
            self.inventory.restock("tea", 0)

    def test_running_low(self):
        self.inventory.restock("cup", 2)
        self.assertEqual(self.inventory.running_low(), ["cup"])


class DeliveryTest(unittest.TestCase):
    def test_reads_lines(self):
        self.assertEqual(importer.read("# today\nTEA; 5\n\n"), [{"code": "tea", "quantity": 5}])

    def test_broken_lines_are_refused(self):
        with self.assertRaises(ValueError):
            importer.read("tea 5")

    def test_counts_pieces(self):
        self.assertEqual(importer.pieces(importer.read("tea;5\ncup;2")), 7)

    def test_a_delivery_adds_to_what_is_there(self):
        inventory = Inventory()
        inventory.restock("tea", 10)
        delivered = importer.deliver("tea;5\ncup;2", inventory)
        self.assertEqual((delivered, inventory.available("tea")), (7, 15))
