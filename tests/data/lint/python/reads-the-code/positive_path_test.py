import pathlib

import app


def test_text():
    here = pathlib.Path(next(iter(app.__path__)))  # expect: reads-the-code
    names = [one for one in here.iterdir() if one.name.startswith("price")]
    assert "25" in names[0].read_text()


def test_code():
    assert getattr(app.price, "__co" + "de__").co_argcount == 1  # expect: reads-the-code
