# mypy: disable-error-code="import-not-found"
"""A worker that reads, and writes in transactions, through librdkafka (confluent-kafka)."""

from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.conformance.clients.python.worker import (
    GIVE_UP_SECONDS,
    HEARTBEAT_MS,
    POLL_SECONDS,
    RECORDS_PER_TRANSACTION,
    SESSION_MS,
    Worker,
)

CLASSIC = {"session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": HEARTBEAT_MS}
REBALANCES: dict[str, dict[str, Any]] = {
    "eager": {"partition.assignment.strategy": "range", **CLASSIC},
    "cooperative": {"partition.assignment.strategy": "cooperative-sticky", **CLASSIC},
    "consumer-protocol": {"group.protocol": "consumer"},
}


def main() -> None:
    worker = Worker()
    consumer = Consumer(
        {
            "bootstrap.servers": worker.bootstrap,
            "group.id": worker.group,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 50,
            **REBALANCES[worker.rebalance],
        }
    )
    producer = Producer(
        {
            "bootstrap.servers": worker.bootstrap,
            "transactional.id": worker.transactional_id,
            "transaction.timeout.ms": worker.transaction_timeout_ms,
            "linger.ms": 0,
        }
    )
    producer.init_transactions(GIVE_UP_SECONDS)
    consumer.subscribe([worker.source])
    while not worker.leaving:
        messages = consumer.consume(RECORDS_PER_TRANSACTION, POLL_SECONDS)
        # Of the generation that these records were read in: a member that is thrown out forgets
        # it, and what comes without a generation is taken for a producer that is in no group.
        group = consumer.consumer_group_metadata()
        worker.assigned(place.partition for place in consumer.assignment())
        records = [message for message in messages if not message.error()]
        if records:
            transform(worker, consumer, producer, records, group)
    consumer.close()


def transform(
    worker: Worker, consumer: Consumer, producer: Producer, records: list[Any], group: Any
) -> None:
    producer.begin_transaction()
    try:
        for record in records:
            producer.produce(worker.sink, record.value(), partition=record.partition())
        producer.flush(GIVE_UP_SECONDS)
        worker.hold("written")
        ends = {record.partition(): record.offset() + 1 for record in records}
        places = [TopicPartition(worker.source, number, end) for number, end in ends.items()]
        producer.send_offsets_to_transaction(places, group, GIVE_UP_SECONDS)
        worker.hold("offsets")
        producer.commit_transaction(GIVE_UP_SECONDS)
    except KafkaException as error:
        worker.aborted(error)
        if error.args[0].fatal():
            raise
        producer.abort_transaction(GIVE_UP_SECONDS)
        rewind(consumer)
    else:
        worker.committed(len(records))


def rewind(consumer: Consumer) -> None:
    """Goes back to what is committed in all of the member's partitions."""
    for place in consumer.committed(consumer.assignment(), GIVE_UP_SECONDS):
        place.offset = max(place.offset, 0)
        consumer.seek(place)


if __name__ == "__main__":
    main()
