"""The same without a loop: the fixture ``fencepost`` is there once Fencepost is installed.

pip install fencepost pytest
pytest examples/testing/test_invoices.py

Any client does that blocks: confluent-kafka, kafka-python, or Spark in a process of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client import TopicPartition
from fencepost_client.blocking import Consumer, Producer

INVOICES = TopicPartition("invoices", 0)


class WrongSumError(Exception):
    """An invoice that must not go out."""


def send_invoices(bootstrap: str, invoices: Sequence[bytes]) -> None:
    """What your program does: all or nothing."""
    with (
        Producer(bootstrap, transactional_id="invoices-1") as producer,
        producer.transaction() as transaction,
    ):
        for invoice in invoices:
            transaction.send("invoices", invoice)
            if b"?" in invoice:
                raise WrongSumError(invoice)


@pytest.mark.fencepost(topics={"invoices": 1})
def test_only_what_was_committed_is_read(fencepost: Broker) -> None:
    with pytest.raises(WrongSumError):
        send_invoices(fencepost.bootstrap, [b"1 pear: 0.70", b"3 apples: ?"])
    send_invoices(fencepost.bootstrap, [b"3 apples: 2.40"])
    with Consumer(fencepost.bootstrap, isolation_level="read_committed") as consumer:
        consumer.assign([INVOICES])
        consumer.seek_to_beginning(INVOICES)
        assert consumer.getmany(timeout_ms=10_000)[0].value == b"3 apples: 2.40"
