import os
import yaml
import requests
import google.protobuf
import local_module
try:
    import simplejson
except ImportError:
    simplejson = None
print(os, yaml, requests, google, local_module)
