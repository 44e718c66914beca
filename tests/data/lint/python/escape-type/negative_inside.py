from typing import Any


def f(*args: Any, **kwargs: Any) -> dict[str, Any]:
    return {"a": args, "k": kwargs}


def g(a: dict[str, Any], b: list[Any], c: tuple[Any, ...], **kwargs: Any) -> list[Any]:
    return [a, b, c, kwargs]
