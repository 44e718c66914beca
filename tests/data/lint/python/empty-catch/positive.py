def f(a):
    try:
        return a()
    except Exception:  # expect: empty-catch
        pass
