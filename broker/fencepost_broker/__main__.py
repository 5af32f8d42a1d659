"""``python -m fencepost_broker`` is the ``fencepost`` command."""

from fencepost_broker.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
