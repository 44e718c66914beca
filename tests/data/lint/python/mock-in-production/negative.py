def client(factory):
    return factory.Mockingbird()
