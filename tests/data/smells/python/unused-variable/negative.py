count = 0
def total(items):
    global count
    count = 1
    _ignored = items.pop()
    a, b = items
    rate = 2
    def inner():
        return rate + a
    return inner()
