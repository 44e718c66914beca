import json  # expect: unused-import
from os import path, sep  # expect: unused-import
print(path)
