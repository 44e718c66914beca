import reqeusts  # expect: misspelt-package
print(reqeusts)
