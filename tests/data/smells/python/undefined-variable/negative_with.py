def f(server):
    with server as (host, (port, *rest)):
        return host, port, rest


def g(shape):
    match shape:
        case {"x": x, "y": [first, *others]}:
            return x, first, others
        case str() as text:
            return text
