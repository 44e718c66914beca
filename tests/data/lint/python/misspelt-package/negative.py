import requests
import numpy
print(requests, numpy)
