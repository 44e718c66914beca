import json
from typing import List
__all__ = ["json"]
def f(a: "List[int]"):
    return a
try:
    import ujson
except ImportError:
    print("no ujson")
