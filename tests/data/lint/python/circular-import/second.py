from positive import a
b = a
