def f(password):
    print("password")
    return len(password)
