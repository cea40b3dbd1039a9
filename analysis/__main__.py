"""``python -m analysis`` is the ``evenhand`` command."""

import sys

from analysis.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
