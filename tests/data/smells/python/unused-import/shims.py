from json import loads
