import unittest
class A(unittest.TestCase):
    def test_a(self):
        self.assertEqual(f(2), 4)
def f(x):
    return x * 2
