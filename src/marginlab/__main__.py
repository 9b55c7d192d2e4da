"""``python -m marginlab`` is the command ``marginlab``."""

from __future__ import annotations

import sys

from marginlab.cli import main

sys.exit(main())
