from typing import Any
def f(a: Any, b: Any, c: Any):
    return a, b, c
