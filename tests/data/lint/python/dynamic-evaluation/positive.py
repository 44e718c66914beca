def f(text):
    return eval(text)  # expect: dynamic-evaluation
