from unittest.mock import Mock
def test_a():
    send = Mock()
    f(send)
    send.assert_called_once()  # expect: mock-only
def f(send):
    send()
