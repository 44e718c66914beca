import sys

sys.path.insert(0, "tools")
import pegen
import _compiled

print(pegen, _compiled)
