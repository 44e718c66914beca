import datetime
import unittest

from shop import reports
from shop.orders import OrderBook
from tests.test_catalogue import catalogue

DAY = datetime.date(2024, 5, 3)


class OrderTest(unittest.TestCase):
    def setUp(self):
        self.book = OrderBook()
        self.order = self.book.place({"tea": 2}, DAY)

    def test_orders_are_numbered(self):
        self.assertEqual(self.book.place({}, DAY).number, 2)

    def test_a_new_order_is_open(self):
        self.assertTrue(self.order.is_open())

    def test_a_paid_order_can_be_shipped(self):
        self.order.move("paid")
        self.order.move("shipped")
        self.assertEqual(self.order.history, ["new", "paid", "shipped"])

    def test_a_new_order_cannot_be_shipped(self):
        with self.assertRaises(ValueError):
            self.order.move("shipped")

    def test_a_cancelled_order_is_final(self):
        self.order.move("cancelled")
        self.assertTrue(self.order.is_final())

    def test_open_orders(self):
        self.book.place({"cup": 1}, DAY).status = "shipped"
        self.assertEqual(self.book.open_orders(), [self.order])


class ReportTest(unittest.TestCase):
    def setUp(self):
        book = OrderBook()
        for lines, status in [({"tea": 5, "cup": 1}, "paid"), ({"cup": 3}, "shipped"), ({"book": 9}, "cancelled"), ({"book": 4}, "new")]:
            book.place(lines, DAY).status = status
        self.orders = book.orders

    def test_cancelled_orders_do_not_count(self):
        self.assertEqual(reports.sold(self.orders), {"tea": 5, "cup": 4, "book": 4})

    def test_best_sellers(self):
        self.assertEqual(reports.best_sellers(self.orders, 2), ["tea", "book"])

    def test_revenue_counts_what_was_paid(self):
        self.assertEqual(reports.revenue(self.orders, catalogue()), 5 * 450 + 4 * 900)

    def test_bars_tell_the_share(self):
        self.assertEqual(reports.bar(5, 10, 8), "####")

    def test_no_sales_no_bar(self):
        self.assertEqual(reports.bar(0, 0), "")
