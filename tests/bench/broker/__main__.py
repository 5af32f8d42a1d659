"""``python -m tests.bench.broker``."""

import signal
import sys

from tests.bench.broker.run import main

# What was started is ended, too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
sys.exit(main())
