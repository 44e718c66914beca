def roman(number):
    raise NotImplementedError
