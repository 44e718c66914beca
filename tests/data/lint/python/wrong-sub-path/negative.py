from shop.tax import rate
import shop.deep.more
print(rate, shop)
