def receive_order(order):
    return order
