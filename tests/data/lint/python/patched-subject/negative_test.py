from unittest.mock import patch
import app
def test_price():
    with patch("app.rate", return_value=2):
        assert app.price(2) == 4
def test_set(monkeypatch):
    monkeypatch.setattr(app, "rate", lambda: 2)
    assert app.price(2) == 4
