import unittestish
def f():
    return unittestish.approx(1)
