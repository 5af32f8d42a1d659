"""What the single file runs: `fencepost`, as a program of its own.

A cluster's processes are started as `sys.executable -m fencepost_broker`; here the executable is
this program.
"""

import sys

from fencepost_broker.cli.main import main

if sys.argv[1:3] == ["-m", "fencepost_broker"]:
    del sys.argv[1:3]
sys.exit(main())
