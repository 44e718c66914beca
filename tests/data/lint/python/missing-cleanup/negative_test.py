import os
import unittest
class A(unittest.TestCase):
    def setUp(self):
        os.environ["MODE"] = "x"
        self.addCleanup(os.environ.pop, "MODE")
    def test_a(self):
        self.assertEqual(os.environ["MODE"], "x")
