import os
DB_PASSWORD = os.environ["DB_PASSWORD"]
API_KEY = "your-api-key-1234"
PASSWORD_LABEL = "hT9kQ2vRxW7pLz4m"
