import unittest

from shop import storage


class VersionTest(unittest.TestCase):
    def test_a_newer_minor_version_can_be_read(self):
        self.assertTrue(storage.supported((2, 1), (2, 0)))

    def test_a_much_newer_minor_version_can_be_read(self):
        self.assertTrue(storage.supported((2, 2), (2, 0)))

    def test_another_major_version_cannot_be_read(self):
        self.assertFalse(storage.supported((1, 5), (2, 0)))

    def test_a_new_file_is_empty(self):
        self.assertEqual(storage.empty()["products"], [])
