def f(name):
    with open(name) as stream:
        return stream.read()
def g(name):
    stream = open(name)
    try:
        return stream.read()
    finally:
        stream.close()
def h(name):
    stream = open(name)
    return stream
