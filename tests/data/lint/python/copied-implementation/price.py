def discount(price: int, percent: int) -> float:
    """Takes so many percent off a price."""
    if percent > 100:
        raise ValueError("more than all")
    return price * (100 - percent) / 100


def kinds():
    return ["dear", "cheap", "gift", "none"]


def limits():
    return {"dear": [5, 10], "cheap": [1, 2]}
