def first_thing():  # expect: mixed-naming
    return 1
def second_thing():
    return 2
def thirdThing():
    return 3
def fourthThing():
    return 4
