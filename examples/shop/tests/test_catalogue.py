import unittest

from shop.catalogue import Catalogue, Product


def catalogue():
    catalogue = Catalogue()
    catalogue.add(Product("tea", "Green tea", 450, "food"))
    catalogue.add(Product("cup", "Tea cup", 900))
    catalogue.add(Product("book", "Book of coffee", 1500, "books"))
    return catalogue


class CatalogueTest(unittest.TestCase):
    def test_finds_by_code(self):
        self.assertEqual(catalogue().find("cup").price, 900)

    def test_unknown_codes_are_errors(self):
        with self.assertRaises(KeyError):
            catalogue().find("pot")

    def test_a_code_is_taken_once(self):
        with self.assertRaises(ValueError):
            catalogue().add(Product("tea", "Black tea", 400))

    def test_search_ignores_case(self):
        self.assertEqual([p.code for p in catalogue().search("TEA")], ["tea", "cup"])

    def test_search_finds_parts_of_words(self):
        self.assertEqual([p.code for p in catalogue().search("coff")], ["book"])

    def test_search_finds_nothing(self):
        self.assertEqual(catalogue().search("milk"), [])

    def test_categories(self):
        self.assertEqual(catalogue().categories(), ["books", "food", "general"])

    def test_products_of_a_category(self):
        self.assertEqual([p.code for p in catalogue().in_category("food")], ["tea"])
