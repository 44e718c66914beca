def total(prices, discount=0):
    return sum(prices) - discount


def mirrored(prices):
    raise ConnectionError("the mirror is gone")
