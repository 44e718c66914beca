import asyncio
from shop import fetch
def test_a():
    assert asyncio.run(fetch(2)) == 4
