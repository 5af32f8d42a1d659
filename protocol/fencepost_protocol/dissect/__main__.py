"""``python -m fencepost_protocol.dissect``: the command without the rest of ``fencepost``."""

from __future__ import annotations

from fencepost_protocol.dissect.command import main

if __name__ == "__main__":
    raise SystemExit(main())
