"""Apache Kafka with the words of ``fencepost up``, for programs that start a broker by a command.

``python -m tests.support.kafka_up --data-dir DIR --port PORT`` says ``ready at HOST:PORT``, keeps
its logs in DIR and ends in an orderly way by SIGINT; the same command again goes on with them, also
after SIGKILL for its process group. Port 0 takes a free one.
"""

from __future__ import annotations

import argparse
import re
import signal
import threading
from pathlib import Path
from typing import Self

from tests.support.apache_kafka import ApacheKafka, fetch, free_ports


class KeptKafka(ApacheKafka):
    """Its folder stays, and is used again."""

    def __init__(self, data_dir: Path, port: int) -> None:
        super().__init__({"log.dirs": str(data_dir)})
        self._kept = data_dir.with_name(f"{data_dir.name}-settings")
        self.port = port

    def __enter__(self) -> Self:
        fetch()
        self._folder = self._kept
        self._folder.mkdir(exist_ok=True)
        self._stderr = (self._folder / "stderr").open("a+b")
        if self._properties_path.exists():
            text = self._properties_path.read_text()
            self.port, self.controller_port = map(
                int, re.findall(r"^listeners=.*:(\d+),.*:(\d+)$", text, re.MULTILINE)[0]
            )
        else:
            free = free_ports(2)
            self.port, self.controller_port = self.port or free[0], free[1]
            self._write_properties()
            self._format()
        self.start()
        return self

    def _clean_up(self) -> None:
        self.stop()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    ended = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: ended.set())
    with KeptKafka(options.data_dir, options.port) as kafka:
        print(f"ready at {kafka.bootstrap}", flush=True)
        ended.wait()


if __name__ == "__main__":
    main()
