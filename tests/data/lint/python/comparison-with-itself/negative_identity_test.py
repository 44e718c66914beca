from app import load


def test_version_is_made_once():
    meta = load("a")
    assert meta.version is meta.version
