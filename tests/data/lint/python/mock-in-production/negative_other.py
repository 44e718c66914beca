def f(client, name):
    return client.patch(name)
mock = None
