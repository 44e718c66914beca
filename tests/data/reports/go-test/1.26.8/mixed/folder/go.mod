module example.com/mixed
