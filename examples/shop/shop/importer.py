"""Reads deliveries: one line per product, `code;quantity`."""


def read_line(text):
    """A dictionary with code and quantity."""
    parts = [part.strip() for part in text.split(";")]
    if len(parts) != 2:
        raise ValueError(f"expected code;quantity: {text}")
    return {"code": parts[0].lower(), "quantity": int(parts[1])}


def read(text):
    """All lines but empty ones and comments."""
    rows = []
    for line in text.splitlines():
        line = line.strip()
        if line and not line.startswith("#"):
            rows.append(read_line(line))
    return rows


def pieces(rows):
    return sum(row["qty"] for row in rows)


def deliver(text, inventory):
    """Puts a delivery on the shelf and returns the number of pieces."""
    rows = read(text)
    delivered = pieces(rows)
    for row in rows:
        inventory.restock(row["quantity"], row["code"])
    return delivered
