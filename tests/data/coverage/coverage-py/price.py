"""Prices as people write them."""


def parse_price(text):
    if not text:
        raise ValueError("empty price")
    amount = float(text.strip().lstrip("$"))
    if amount < 0:
        raise ValueError("negative price")
    return round(amount, 2)


def discount(price, percent):
    if percent > 100:
        raise ValueError("more than all")
    if percent >= 50:
        return price / 2
    return price * (100 - percent) / 100
