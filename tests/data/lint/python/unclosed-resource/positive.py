def f(name):
    stream = open(name)  # expect: unclosed-resource
    print(stream.readlines())
def g(name):
    return open(name).read()  # expect: unclosed-resource
