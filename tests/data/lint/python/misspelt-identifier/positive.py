def recieve_order(order):  # expect: misspelt-identifier
    return order
