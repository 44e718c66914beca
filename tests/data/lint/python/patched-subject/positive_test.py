from unittest.mock import patch
import app
def test_price():
    with patch("app.price", return_value=4):  # expect: patched-subject
        assert app.price(2) == 4
def test_set(monkeypatch):
    monkeypatch.setattr(app, "price", lambda count: 4)  # expect: patched-subject
    assert app.price(2) == 4
