# mypy: disable-error-code="import-not-found"
"""``python -m tests.bench.broker.librdkafka_mock``: librdkafka's mock cluster, in this process.

Prints its port and runs until it is killed.
"""

from __future__ import annotations

import threading

from confluent_kafka import Producer


def main() -> None:
    """One broker; the client that owns it does nothing."""
    owner = Producer({"test.mock.num.brokers": "1", "log_level": 0})
    brokers = owner.list_topics(timeout=10).brokers
    print(next(iter(brokers.values())).port, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
