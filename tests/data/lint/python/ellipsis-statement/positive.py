def total(items):
    ...  # expect: ellipsis-statement
