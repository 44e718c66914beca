import json
def f(text):
    json = text.strip()  # expect: shadowing
    return json
print(json)
