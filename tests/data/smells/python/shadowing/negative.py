import json
def f(text):
    data = json.loads(text)
    return data
class A:
    json = 1
