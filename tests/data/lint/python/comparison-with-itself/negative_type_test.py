import json
from app import names
def test_empty_list_is_rejected():
    found = names(2)
    assert found == list(found)
def test_tuple():
    found = names(2)
    assert found == tuple(found)
def test_round_trip():
    found = names(2)
    assert found == json.loads(json.dumps(found))
