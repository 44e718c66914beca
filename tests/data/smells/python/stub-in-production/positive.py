def f(target):
    return mock.patch.object(target, "send")  # expect: stub-in-production
