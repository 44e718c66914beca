def f(:  # expect: syntax-error
    return 1
