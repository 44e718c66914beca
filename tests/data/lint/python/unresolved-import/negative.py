from .tax import rate
print(rate)
