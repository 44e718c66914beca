c = 1
def late():
    from negative import c as d
    return d
