def discount(price: int, percent: int) -> float:
    """Takes so many percent off a price."""
    if percent > 100:
        raise ValueError("more than all")
    return price * (100 - percent) / 100
