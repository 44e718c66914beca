def f(a):
    if a:
        return a
    print(a)
    raise ValueError
