from shop.taxes import rate  # expect: wrong-sub-path
print(rate)
