from typing import Protocol, overload
class P(Protocol):
    def f(self): ...
@overload
def g(a: int): ...
def g(a):
    return a[..., 1]
