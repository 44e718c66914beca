import functools
class A:
    @property
    def x(self):
        return self._x
    @x.setter
    def x(self, value):
        self._x = value
def f():
    return 1
g = functools.partial(f)
def f():
    return 2
print(g, f)
