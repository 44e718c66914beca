def f(mock, target):
    return mock.patch.object(target, "send")  # expect: mock-in-production
