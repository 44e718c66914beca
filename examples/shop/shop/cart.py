"""What a customer is about to buy."""

from shop import pricing, tax


class Cart:
    def __init__(self, catalogue):
        self.catalogue = catalogue
        self.lines = {}

    def put(self, code, quantity=1):
        if quantity < 1:
            raise ValueError("at least one piece")
        self.catalogue.find(code)
        self.lines[code] = self.lines.get(code, 0) + quantity

    def take(self, code, quantity=1):
        left = self.lines.get(code, 0) - quantity
        if left > 0:
            self.lines[code] = left
        else:
            self.lines.pop(code, None)

    def pieces(self):
        return sum(self.lines.values())

    def net(self):
        total = 0
        for code, quantity in self.lines.items():
            product = self.catalogue.find(code)
            total = pricing.line_price(product.price, quantity)
        return total

    def gross(self):
        total = 0
        for code, quantity in self.lines.items():
            product = self.catalogue.find(code)
            line = pricing.line_price(product.price, quantity)
            total += tax.gross(line, product.category)
        return total
