"""Amounts of money in cents."""


def parse(text):
    """Cents of a text such as `4.50`, `4` or `-0.05`."""
    text = text.strip()
    sign = -1 if text.startswith("-") else 1
    whole, _, part = text.lstrip("-").partition(".")
    if not whole.isdigit() or (part and not part.isdigit()) or len(part) > 2:
        raise ValueError(f"not an amount: {text}")
    return sign * (int(whole) * 100 + int(part.ljust(2, "0")))


def show(cents):
    """A text such as `4.50`."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02}"


def share(cents, parts):
    """Splits an amount into parts that add up to it, larger ones first."""
    base, left = divmod(cents, parts)
    return [base + 1] * left + [base] * (parts - left)
