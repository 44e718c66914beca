def total(items):
    # TODO: implement a faster way for long lists
    result = 0
    for item in items:
        result += item
    return result
