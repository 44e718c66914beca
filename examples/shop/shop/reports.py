"""What sold, and how well."""


def sold(orders):
    """Pieces by code over all orders that were not cancelled."""
    pieces = {}
    for order in orders:
        if order.status == "cancelled":
            continue
        for code, quantity in order.lines.items():
            pieces[code] = pieces.get(code, 0) + quantity
    return pieces


def best_sellers(orders, count):
    """The codes that sold most, best first, then by code."""
    pieces = sold(orders)
    ranked = sorted(pieces, key=lambda code: (-pieces[code], code))
    return ranked[:count]


def revenue(orders, catalogue):
    total = 0
    for order in orders:
        if order.status in ("paid", "shipped"):
            for code, quantity in order.lines.items():
                total += catalogue.find(code).price * quantity
    return total


def bar(value, largest, width=20):
    """A bar whose length tells the share of the largest value."""
    if largest <= 0:
        return ""
    return "#" * (value * width // largest)
