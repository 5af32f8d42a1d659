"""Groups and transactions through kafka-python; called by kafka_python_client."""

import time
from collections.abc import Callable
from typing import Any

from kafka import (
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    TopicPartition,
    errors,
)

from tests.conformance.clients.python.checks import (
    GIVE_UP_SECONDS,
    GROUP_CHECKS,
    MismatchError,
    Record,
    Script,
    eventually,
    expect,
    record,
)
from tests.conformance.clients.python.kafka_python_helpers import (
    create_topic,
    produce,
    read,
    refused,
    send,
)

GROUP_PARTITIONS = 4
POLL_MS = 1000  # shorter ones lose assignments: see FINDINGS.md


def consumer_protocol(script: Script) -> None:
    for check in GROUP_CHECKS:
        script.unsupported(check, "kafka-python speaks the classic group protocol only")


def groups(script: Script) -> None:
    client = KafkaAdminClient(bootstrap_servers=script.bootstrap)
    topic = group = script.name("groups")
    create_topic(client, topic, GROUP_PARTITIONS)

    def member(**more: Any) -> KafkaConsumer:
        config: dict[str, Any] = {
            "group_id": group,
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "heartbeat_interval_ms": 300,
            "fetch_max_wait_ms": 50,
        }
        return KafkaConsumer(topic, bootstrap_servers=script.bootstrap, **{**config, **more})

    def listed() -> bool:
        return group in [one["group_id"] for one in client.list_groups()]

    first, second = member(), member()
    try:
        with script.check("share"):
            poll_until(
                lambda: (
                    assigned(first) | assigned(second) == set(range(GROUP_PARTITIONS))
                    and bool(assigned(first))
                    and bool(assigned(second))
                    and not assigned(first) & assigned(second)
                ),
                [first, second],
                "both have partitions, and together all of them",
            )
            produce_numbers(script, topic, range(40))
            numbers = poll_numbers([first, second], 40)
            expect(sorted(numbers), list(range(40)), "the numbers of the records")
        with script.check("commit"):
            first.commit()
            second.commit()
            expect(committed(client, group), dict.fromkeys(range(4), 10), "the committed offsets")
        with script.check("describe"):
            expect(listed(), True, "the group is listed")
            description = client.describe_groups([group])[group]
            expect(len(description["members"]), 2, "the number of members")
            expect(description["group_state"], "Stable", "the state")
        with script.check("leave"):
            second.close(autocommit=False)
            poll_until(
                lambda: assigned(first) == set(range(GROUP_PARTITIONS)),
                [first],
                "the first member has all partitions",
            )
    finally:
        first.close(autocommit=False)
        second.close(autocommit=False)
    with script.check("resume"):
        produce_numbers(script, topic, range(40, 60))
        third = member()
        try:
            numbers = poll_numbers([third], 20)
            expect(sorted(numbers), list(range(40, 60)), "the numbers of the new records")
            third.commit()
        finally:
            third.close(autocommit=False)
        expect(committed(client, group), dict.fromkeys(range(4), 15), "the committed offsets")
    with script.check("delete"):
        expect(client.delete_groups([group]), {group: "OK"}, "the answer")
        expect(listed(), False, "the group is still listed")
    client.close()
    with script.check("static"):
        unread = {"group_id": f"{group}-static", "auto_offset_reset": "latest"}
        static_members(lambda name: member(**unread, group_instance_id=name))


def static_members(member: Callable[[str], KafkaConsumer]) -> None:
    one, other = member("one"), member("other")
    try:
        poll_until(
            lambda: len(assigned(one)) == len(assigned(other)) == GROUP_PARTITIONS // 2,
            [one, other],
            "both have two partitions",
        )
        generation = one.group_metadata().generation_id
        before = assigned(other)
        other.close(autocommit=False)
        other = member("other")
        poll_until(lambda: assigned(other) == before, [one, other], f"{before} again")
        for consumer in (one, other):
            expect(consumer.group_metadata().generation_id, generation, "the generation")
    finally:
        one.close(autocommit=False)
        other.close(autocommit=False)


def assigned(consumer: KafkaConsumer) -> set[int]:
    return {place.partition for place in consumer.assignment()}


def produce_numbers(script: Script, topic: str, numbers: range) -> None:
    records = [(i % GROUP_PARTITIONS, Record(None, str(i).encode())) for i in numbers]
    produce(script, topic, records)


def poll_until(condition: Callable[[], bool], consumers: list[KafkaConsumer], what: str) -> None:
    """Polls the members, which find their places meanwhile; there is nothing to read yet."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while not condition():
        for consumer in consumers:
            messages = consumer.poll(timeout_ms=POLL_MS)
            expect(messages, {}, "records while the group is forming")
        if time.monotonic() > deadline:
            places = [sorted(assigned(consumer)) for consumer in consumers]
            raise MismatchError(f"not reached: {what}; assigned: {places}")


def poll_numbers(consumers: list[KafkaConsumer], count: int) -> list[int]:
    numbers: list[int] = []
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while len(numbers) < count and time.monotonic() < deadline:
        for consumer in consumers:
            for messages in consumer.poll(timeout_ms=POLL_MS).values():
                numbers += [int(message.value) for message in messages]
    return numbers


def committed(client: KafkaAdminClient, group: str) -> dict[int, int]:
    offsets = client.list_group_offsets({group: None})[group]
    return {place.partition: metadata.offset for place, metadata in offsets.items()}


def transactions(script: Script) -> None:
    # What ends a transaction is answered before its markers are written: hence "eventually".
    topic = script.name("transactions")
    client = KafkaAdminClient(bootstrap_servers=script.bootstrap)
    create_topic(client, topic, 8)
    producers: list[KafkaProducer] = []

    def transactional_producer(suffix: str, **config: int) -> KafkaProducer:
        transactional_id = script.name(suffix)
        producer = KafkaProducer(
            bootstrap_servers=script.bootstrap, transactional_id=transactional_id, **config
        )
        producers.append(producer)
        producer.init_transactions()
        return producer

    def values(partition: int, isolation: str = "read_committed") -> list[bytes | None]:
        found = read(script, topic, {partition: 0}, isolation_level=isolation)[partition]
        return [one.value for _, one in found]

    with script.check("commit"):
        producer = transactional_producer("commit")
        producer.begin_transaction()
        send(producer, topic, [(0, Record(None, b"a")), (1, Record(None, b"b"))])
        producer.commit_transaction()
        eventually(lambda: values(0) + values(1) == [b"a", b"b"], "the records are seen")
    with script.check("abort"):
        producer = transactional_producer("abort")
        producer.begin_transaction()
        send(producer, topic, [(2, Record(None, b"aborted"))])
        producer.flush(GIVE_UP_SECONDS)
        producer.abort_transaction()
        produce(script, topic, [(2, Record(None, b"after"))])
        expect(values(2, "read_uncommitted"), [b"aborted", b"after"], "read_uncommitted")
        eventually(lambda: values(2) == [b"after"], "read_committed: only the record after")
    with script.check("open"):
        producer = transactional_producer("open")
        producer.begin_transaction()
        send(producer, topic, [(3, Record(None, b"open"))])
        producer.flush(GIVE_UP_SECONDS)
        produce(script, topic, [(3, Record(None, b"behind"))])
        expect(values(3), [], "read_committed while the transaction is open")
        expect(values(3, "read_uncommitted"), [b"open", b"behind"], "read_uncommitted")
        producer.commit_transaction()
        eventually(lambda: values(3) == [b"open", b"behind"], "both records are seen")
    with script.check("alternate"):
        producer = transactional_producer("alternate")
        for i in range(20):
            producer.begin_transaction()
            send(producer, topic, [(4, Record(None, str(i).encode()))])
            producer.flush(GIVE_UP_SECONDS)
            if i % 2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
        wanted: list[bytes | None] = [str(i).encode() for i in range(0, 20, 2)]
        eventually(lambda: values(4) == wanted, "exactly the committed records are seen")
    with script.check("fencing"):
        first = transactional_producer("fenced")
        first.begin_transaction()
        send(first, topic, [(5, Record(None, b"first"))])
        first.flush(GIVE_UP_SECONDS)
        second = transactional_producer("fenced")
        second.begin_transaction()
        send(second, topic, [(5, Record(None, b"second"))])
        second.commit_transaction()
        refused(errors.ProducerFencedError, first.commit_transaction)
        eventually(lambda: values(5) == [b"second"], "only the second producer's record")
    with script.check("timeout"):
        late = transactional_producer("late", transaction_timeout_ms=1000)
        late.begin_transaction()
        send(late, topic, [(7, Record(None, b"late"))])
        late.flush(GIVE_UP_SECONDS)
        produce(script, topic, [(7, Record(None, b"behind"))])
        eventually(lambda: values(7) == [b"behind"], "only the record behind the transaction")
        refused(errors.ProducerFencedError, late.commit_transaction)
    offsets_in_transactions(script, topic, client, transactional_producer)
    for producer in producers:
        producer.close(timeout=0)
    client.close()


def offsets_in_transactions(
    script: Script,
    topic: str,
    client: KafkaAdminClient,
    transactional_producer: Callable[[str], KafkaProducer],
) -> None:
    group = script.name("transactional-group")
    consumer = KafkaConsumer(bootstrap_servers=script.bootstrap, group_id=group)

    def send_offset(offset: int) -> Any:
        producer = transactional_producer("send-offsets")
        producer.begin_transaction()
        send(producer, topic, [(6, record(0))])
        offsets = {TopicPartition(topic, 6): OffsetAndMetadata(offset, "", -1)}
        producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
        return producer

    with script.check("send-offsets"):
        send_offset(7).commit_transaction()
        eventually(lambda: committed(client, group) == {6: 7}, "offset 7 is committed")
    with script.check("send-offsets-abort"):
        send_offset(9).abort_transaction()
        expect(committed(client, group), {6: 7}, "the committed offset")
    consumer.close()
