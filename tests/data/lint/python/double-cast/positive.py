from typing import Any, cast
def f(a):
    return cast(int, cast(Any, a))  # expect: double-cast
