import sys

import other

sys.modules["made.other"] = other
