from third import c
print(c)
