from app import logged
def test_documentation_is_kept():
    @logged
    def price():
        """The price."""
    assert price.__doc__ == "The price."
