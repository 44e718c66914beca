def f(a):
    try:
        return a()
    except KeyError:
        pass
    try:
        return a(1)
    except Exception:
        # The caller asks again.
        pass
    try:
        return a(2)
    except Exception as error:
        print(error)
