from unittest.mock import MagicMock  # expect: test-import-in-production
def client():
    return MagicMock()  # expect: mock-in-production
