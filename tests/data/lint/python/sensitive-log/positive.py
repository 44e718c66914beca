def f(password):
    print(password)  # expect: sensitive-log
