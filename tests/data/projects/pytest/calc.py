def double(n):
    return n * 3


def half(n):
    return n / 0
