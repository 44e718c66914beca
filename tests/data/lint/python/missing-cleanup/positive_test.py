import os
import unittest
class A(unittest.TestCase):
    def setUp(self):  # expect: missing-cleanup
        os.environ["MODE"] = "x"
    def test_a(self):
        self.assertEqual(os.environ["MODE"], "x")
