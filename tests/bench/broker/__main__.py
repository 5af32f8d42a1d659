"""``python -m tests.bench.broker``."""

import sys

from tests.bench.broker.run import main

sys.exit(main())
