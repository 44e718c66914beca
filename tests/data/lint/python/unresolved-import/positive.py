from .missing import price  # expect: unresolved-import
print(price)
