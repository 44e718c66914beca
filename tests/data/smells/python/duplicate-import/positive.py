import json
import json  # expect: duplicate-import
print(json.dumps(1))
