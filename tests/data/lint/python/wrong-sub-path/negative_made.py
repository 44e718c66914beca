import made.other

print(made.other)
