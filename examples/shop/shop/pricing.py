"""Discounts."""

STEPS = [(10, 5), (50, 10), (100, 20)]


def quantity_discount(quantity):
    """Percent off for a quantity: 5 from 10 pieces, 10 from 50, 20 from 100."""
    percent = 0
    for least, discount in STEPS:
        if quantity > least:
            percent = discount
    return percent


def discounted(cents, percent):
    """An amount less a percentage, rounded to the nearest cent."""
    if not 0 <= percent <= 100:
        raise ValueError(f"not a percentage: {percent}")
    return (cents * (100 - percent) + 50) // 100


def line_price(unit, quantity):
    return discounted(unit * quantity, quantity_discount(quantity))
