def first_thing():
    return 1
def second_thing():
    return 2
def do_GET():
    return 3
def setUp():
    return 4
