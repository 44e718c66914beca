"""Stock by product code."""


class OutOfStock(Exception):
    pass


class Inventory:
    def __init__(self, low=5):
        self.stock = {}
        self.reserved = {}
        self.low = low

    def restock(self, code, quantity):
        if quantity <= 0:
            raise ValueError("nothing to restock")
        self.stock[code] = self.stock.get(code, 0) + quantity

    def available(self, code):
        return self.stock.get(code, 0) - self.reserved.get(code, 0)

    def reserve(self, code, quantity):
        if self.available(code) < quantity:
            raise OutOfStock(code)
        self.reserved[code] = self.reserved.get(code, 0) + quantity

    def release(self, code, quantity):
        self.reserved[code] = max(0, self.reserved.get(code, 0) - quantity)

    def ship(self, code, quantity):
        """Takes reserved pieces off the shelf."""
        if self.reserved.get(code, 0) < quantity:
            raise OutOfStock(code)
        self.reserved[code] -= quantity
        self.stock[code] -= quantity

    def running_low(self):
        return sorted(code for code in self.stock if self.available(code) <= self.low)
