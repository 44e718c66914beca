import sys

from shop.cli import main

sys.exit(main(sys.argv[1:]))
