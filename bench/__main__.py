"""Run `python -m bench PART` in a checkout, equivalent to `pokearena bench PART`."""

import sys

from arena.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
