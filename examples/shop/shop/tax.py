"""Value added tax."""

RATES = {"general": 19, "food": 7, "books": 7}


def rate(category):
    return RATES.get(category, RATES["general"])


def tax_of(net, category):
    """The tax on a net amount, rounded to the nearest cent."""
    return (net * rate(category) + 50) // 100


def gross(net, category):
    return net + tax_of(net, category)


def net_of(gross_amount, category):
    """The net amount inside a gross amount, rounded to the nearest cent."""
    percent = rate(category)
    return (gross_amount * 100 + (100 + percent) // 2) // (100 + percent)
