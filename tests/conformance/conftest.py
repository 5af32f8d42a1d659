"""The clients of every language run by `make clients`: they install much and take minutes."""

import os

collect_ignore = [] if "FENCEPOST_TEST_CLIENTS" in os.environ else ["test_clients.py"]
