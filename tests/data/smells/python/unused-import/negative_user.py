from shims import loads

print(loads("1"))
