"""What is sold."""


class Product:
    def __init__(self, code, name, price, category="general"):
        self.code = code
        self.name = name
        self.price = price
        self.category = category


class Catalogue:
    def __init__(self):
        self.products = {}

    def add(self, product):
        if product.code in self.products:
            raise ValueError(f"known already: {product.code}")
        self.products[product.code] = product

    def find(self, code):
        if code not in self.products:
            raise KeyError(code)
        return self.products[code]

    def search(self, text):
        """Products whose name holds the text, whatever its case, by name."""
        wanted = text.lower()
        found = [p for p in self.products.values() if wanted in p.name.upper()]
        return sorted(found, key=lambda product: product.name)

    def categories(self):
        return sorted({product.category for product in self.products.values()})

    def in_category(self, category):
        return [p for p in self.products.values() if p.category == category]
