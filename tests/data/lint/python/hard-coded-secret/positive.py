DB_PASSWORD = "hT9kQ2vRxW7pLz4m"  # expect: hard-coded-secret
