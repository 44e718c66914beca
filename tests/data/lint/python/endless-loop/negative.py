import time
def f(a):
    while True:
        a += 1
        if a > 3:
            break
    while True:
        time.sleep(1)
