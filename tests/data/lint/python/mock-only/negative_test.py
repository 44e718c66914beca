from unittest.mock import Mock
def test_a():
    send = Mock()
    f(send)
    send.assert_called_once_with(2)
def f(send):
    send(2)
