def f():
    return 1
def f():  # expect: redeclaration
    return 2
