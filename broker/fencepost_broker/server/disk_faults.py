"""How faults of a disk take effect in a running broker."""

from __future__ import annotations

from collections.abc import Callable

from fencepost_broker.server.shared_server import SharedServer
from fencepost_broker.storage.disk.faulty import DiskFaults
from fencepost_broker.storage.flush_scheduler import Worker


def follow_faults(faults: DiskFaults, server: Callable[[], SharedServer], threads: Worker) -> None:
    """Have the logs open their files again when the first fault comes or the last one goes.

    A sync of memory is done in the loop, which must not wait for a slow one: from the first fault
    on, it is done in threads.
    """

    def reopen() -> None:
        server().log_manager.reopen_files()
        server().flushes.use(threads)

    faults.reopen = reopen
    if faults.may_fail:
        reopen()
