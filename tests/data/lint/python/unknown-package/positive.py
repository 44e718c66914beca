import leftpadder  # expect: unknown-package
from numpyx_tools.array import zeros  # expect: unknown-package
print(leftpadder, zeros)
