def total(items):
    tax = 3  # expect: unused-variable
    return sum(items)
