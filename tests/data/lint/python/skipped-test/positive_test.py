import unittest
class A(unittest.TestCase):
    @unittest.skip("slow on the old machine")
    def test_a(self):  # expect: skipped-test
        self.assertEqual(f(2), 4)
# def test_b(): expect: skipped-test
def f(x):
    return x * 2
