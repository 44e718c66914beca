def f(a):
    while True:  # expect: endless-loop
        a += 1
