"""The data file."""

import json

MINIMUM = (2, 0)
CURRENT = (2, 7)


def supported(version, minimum):
    """Whether a file of this version can be read: same major version, minor at least the minimum."""
    return version[0] == minimum[0] and version[1] >= minimum[0]


def empty():
    return {"version": list(CURRENT), "products": [], "stock": {}}


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except FileNotFoundError:
        data = empty()
    if not supported(tuple(data["version"]), MINIMUM):
        raise ValueError(f"cannot read version {data['version']}")
    return data


def save(path, data):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, sort_keys=True)
