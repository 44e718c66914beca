import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class CommandLineTest(unittest.TestCase):
    """Runs the program as a person does, in a process of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = os.path.join(folder.name, "shop.json")

    def shop(self, *arguments):
        command = [sys.executable, "-S", "-E", "-m", "shop", "--data", self.data, *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    def test_adds_a_product(self):
        self.assertEqual(self.shop("add", "tea", "Green tea", "4.50"), (0, "added tea", ""))

    def test_lists_nothing_at_first(self):
        self.assertEqual(self.shop("list"), (0, "", ""))

    def test_lists_products_by_code(self):
        self.shop("add", "tea", "Green tea", "4.50")
        self.shop("add", "cup", "Tea cup", "9")
        self.assertEqual(self.shop("list")[1].split("\n"), ["cup          9.00 Tea cup", "tea          4.50 Green tea"])

    def test_a_code_is_taken_once(self):
        self.shop("add", "tea", "Green tea", "4.50")
        self.assertEqual(self.shop("add", "tea", "Black tea", "4")[2], "error: known already: tea")

    def test_unknown_codes_are_errors(self):
        self.assertEqual(self.shop("show", "pot"), (1, "", "error: unknown: pot"))

    def test_prices_must_be_amounts(self):
        self.assertEqual(self.shop("add", "tea", "Green tea", "much")[2], "error: not an amount: much")

    def test_stock_adds_up(self):
        self.shop("add", "tea", "Green tea", "4.50")
        self.shop("stock", "tea", "3")
        self.assertEqual(self.shop("stock", "tea", "4")[1], "7 on stock")

    def test_shows_a_product(self):
        self.shop("add", "tea", "Green tea", "4.50")
        self.assertEqual(self.shop("show", "tea")[1], "Green tea: 4.50, 0 on stock")

    def test_removes_a_product(self):
        self.shop("add", "tea", "Green tea", "4.50")
        self.assertEqual(self.shop("remove", "tea")[1], "removed tea")

    def test_a_removed_product_is_gone(self):
        self.shop("add", "tea", "Green tea", "4.50")
        self.shop("remove", "tea")
        self.assertEqual(self.shop("list")[1], "")

    def test_a_product_of_many_words(self):
        self.shop("add", "pot", "Pot for green tea", "25.00")
        self.assertEqual(self.shop("show", "pot")[1], "Pot for green tea: 25.00, 0 on stock")

    def test_stock_is_kept_per_product(self):
        self.shop("add", "tea", "Green tea", "4.50")
        self.shop("add", "cup", "Tea cup", "9")
        self.shop("stock", "tea", "3")
        self.assertEqual(self.shop("stock", "cup", "1")[1], "1 on stock")

    def test_prices_are_shown_with_cents(self):
        self.shop("add", "cup", "Tea cup", "9")
        self.assertEqual(self.shop("show", "cup")[1], "Tea cup: 9.00, 0 on stock")

    def test_a_verb_is_needed(self):
        self.assertEqual(self.shop()[0], 2)
