"""Lets the tests of this directory import its labelled corpora under any import mode of pytest."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
