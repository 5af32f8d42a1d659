"""A worker that reads, and writes in transactions, through kafka-python."""

from typing import Any

from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaError, ProducerFencedError

from tests.conformance.clients.python.worker import (
    GIVE_UP_SECONDS,
    HEARTBEAT_MS,
    RECORDS_PER_TRANSACTION,
    SESSION_MS,
    Worker,
)

POLL_MS = 1000  # shorter ones lose assignments: see FINDINGS.md
REBALANCES = {"eager": RangePartitionAssignor, "cooperative": CooperativeStickyAssignor}


def main() -> None:
    worker = Worker()
    consumer = KafkaConsumer(
        worker.source,
        bootstrap_servers=worker.bootstrap,
        group_id=worker.group,
        partition_assignment_strategy=[REBALANCES[worker.rebalance]],
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=HEARTBEAT_MS,
        max_poll_records=RECORDS_PER_TRANSACTION,
        fetch_max_wait_ms=50,
    )
    producer = new_producer(worker)
    while not worker.leaving:
        fetched = consumer.poll(timeout_ms=POLL_MS)
        # Of the generation that these records were read in: see confluent_transform.py.
        group = consumer.group_metadata()
        if group.generation_id < 0:
            continue  # thrown out just now: the next poll takes the partitions away
        worker.assigned(place.partition for place in consumer.assignment())
        if fetched and not transform(worker, producer, fetched, group):
            # Offsets that were refused stay in the producer, which sends them again in its next
            # transaction, though they are others' by then: see FINDINGS.md.
            producer.close(timeout=0)
            producer = new_producer(worker)
            rewind(consumer)
    producer.close()
    consumer.close(autocommit=False)


def new_producer(worker: Worker) -> KafkaProducer:
    producer = KafkaProducer(
        bootstrap_servers=worker.bootstrap,
        transactional_id=worker.transactional_id,
        transaction_timeout_ms=worker.transaction_timeout_ms,
    )
    producer.init_transactions()  # which ends what the one before has left open
    return producer


def transform(
    worker: Worker, producer: KafkaProducer, fetched: dict[TopicPartition, list[Any]], group: Any
) -> bool:
    """Whether it is committed."""
    producer.begin_transaction()
    try:
        for place, records in fetched.items():
            for record in records:
                producer.send(worker.sink, record.value, partition=place.partition)
        producer.flush(GIVE_UP_SECONDS)
        worker.hold("written")
        ends = {
            place: OffsetAndMetadata(records[-1].offset + 1, "", -1)
            for place, records in fetched.items()
        }
        producer.send_offsets_to_transaction(ends, group)
        worker.hold("offsets")
        producer.commit_transaction()
    except KafkaError as error:
        worker.aborted(error)
        if isinstance(error, ProducerFencedError):
            raise
        return False
    worker.committed(sum(map(len, fetched.values())))
    return True


def rewind(consumer: KafkaConsumer) -> None:
    """Goes back to what is committed in all of the member's partitions."""
    for place in consumer.assignment():
        consumer.seek(place, consumer.committed(place) or 0)


if __name__ == "__main__":
    main()
