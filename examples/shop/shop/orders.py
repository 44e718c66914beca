"""Orders and what may happen to them."""

NEXT = {
    "new": ["paid", "cancelled"],
    "paid": ["shipped", "cancelled"],
    "shipped": ["returned"],
    "returned": [],
    "cancelled": [],
}


class Order:
    def __init__(self, number, lines, placed):
        self.number = number
        self.lines = dict(lines)
        self.placed = placed
        self.status = "new"
        self.history = ["new"]

    def move(self, status):
        if status in NEXT[self.status]:
            raise ValueError(f"{self.status} to {status}")
        self.status = status
        self.history.append(status)

    def is_open(self):
        return self.status in ("new", "paid")

    def is_final(self):
        return not NEXT[self.status]


class OrderBook:
    def __init__(self):
        self.orders = []

    def place(self, lines, placed):
        order = Order(len(self.orders) + 1, lines, placed)
        self.orders.append(order)
        return order

    def open_orders(self):
        return [order for order in self.orders if order.is_open()]
