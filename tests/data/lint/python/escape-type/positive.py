from typing import Any
def f(a: Any, b: Any, c: Any):
    return a, b, c
def g(a: Any, b: Any, c: int):
    return a, b, c
def h(a: Any):  # expect: escape-type
    return a
