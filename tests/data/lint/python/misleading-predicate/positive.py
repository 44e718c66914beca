def is_open(door) -> str:  # expect: misleading-predicate
    return door.state
