def f(a):
    return a
    print(a)  # expect: unreachable-code
