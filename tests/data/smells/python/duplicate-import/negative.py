import os
import os.path as path
print(os.sep, path.sep)
