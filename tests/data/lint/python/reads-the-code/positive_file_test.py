from app import price
SOURCE = "src/price.py"  # expect: reads-the-code
def test_lines():
    with open(SOURCE) as file:
        assert len(file.readlines()) == 2
