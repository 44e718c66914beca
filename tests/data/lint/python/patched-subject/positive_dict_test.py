from unittest import mock

import app


def test_price():
    with mock.patch.dict(vars(app), {"price": lambda count: 5}):  # expect: patched-subject
        assert app.price("x") == 5
