def total(items):
    return sum(items) + shiping  # expect: undefined-variable
