def price(count):
    return count * 2
