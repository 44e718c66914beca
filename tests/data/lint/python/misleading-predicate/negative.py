def is_open(door) -> bool:
    return door.state == "open"
def issue(door) -> str:
    return door.name
