import os
LIMIT = 3
def total(items, *args, key=None, **kw):
    global late
    late = [x for x, y in items if y]
    try:
        unicode_name
    except NameError:
        print("old")
    with open(os.devnull) as stream:
        print(stream.read(), args, key, kw)
    for index, (a, b) in enumerate(items):
        print(index, a, b)
    if (found := len(items)) > LIMIT:
        print(found, __file__)
    return lambda z: z + late
