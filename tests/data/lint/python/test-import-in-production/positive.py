import pytest  # expect: test-import-in-production
def f():
    return pytest.approx(1)
