from typing import cast
def f(a):
    return cast(int, a)
