# mypy: disable-error-code="import-not-found"
"""Groups and transactions through librdkafka (confluent-kafka); called by confluent_client."""

import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from tests.conformance.clients.python.checks import (
    GIVE_UP_SECONDS,
    MismatchError,
    Record,
    Script,
    eventually,
    expect,
    record,
)
from tests.conformance.clients.python.confluent_helpers import (
    admin_client,
    create_topic,
    produce,
    read,
    send,
)

GROUP_PARTITIONS = 4


def classic(script: Script) -> None:
    groups(script, "groups", {"group.protocol": "classic", "heartbeat.interval.ms": 300})


def consumer_protocol(script: Script) -> None:
    groups(script, "groups-848", {"group.protocol": "consumer"})


def groups(script: Script, name: str, config: dict[str, Any]) -> None:
    client = admin_client(script)
    topic = group = script.name(name)
    create_topic(client, topic, GROUP_PARTITIONS)

    def member(**more: Any) -> Consumer:
        consumer = Consumer(
            {
                "bootstrap.servers": script.bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                **config,
                **more,
            }
        )
        consumer.subscribe([topic])
        return consumer

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
            first.commit(asynchronous=False)
            second.commit(asynchronous=False)
            expect(committed(client, group), dict.fromkeys(range(4), 10), "the committed offsets")
        with script.check("describe"):
            listing = client.list_consumer_groups().result().valid
            expect(group in [one.group_id for one in listing], True, "the group is listed")
            description = client.describe_consumer_groups([group])[group].result()
            expect(len(description.members), 2, "the number of members")
            expect(description.state.name, "STABLE", "the state")
        with script.check("leave"):
            second.close()
            poll_until(
                lambda: assigned(first) == set(range(GROUP_PARTITIONS)),
                [first],
                "the first member has all partitions",
            )
    finally:
        first.close()
        second.close()
    with script.check("resume"):
        produce_numbers(script, topic, range(40, 60))
        third = member()
        try:
            numbers = poll_numbers([third], 20)
            expect(sorted(numbers), list(range(40, 60)), "the numbers of the new records")
            third.commit(asynchronous=False)
        finally:
            third.close()
        expect(committed(client, group), dict.fromkeys(range(4), 15), "the committed offsets")
    with script.check("delete"):
        client.delete_consumer_groups([group])[group].result()
        listing = client.list_consumer_groups().result().valid
        expect(group in [one.group_id for one in listing], False, "the group is still listed")
    with script.check("static"):
        unread = {"group.id": f"{group}-static", "auto.offset.reset": "latest"}
        static_members(lambda name: member(**unread, **{"group.instance.id": name}), topic)


def static_members(member: Callable[[str], Consumer], topic: str) -> None:
    changes: list[str] = []
    one, other = member("one"), member("other")
    one.subscribe(
        [topic],
        on_assign=lambda *_: changes.append("assigned"),
        on_revoke=lambda *_: changes.append("revoked"),
    )
    try:
        poll_until(
            lambda: len(assigned(one)) == len(assigned(other)) == GROUP_PARTITIONS // 2,
            [one, other],
            "both have two partitions",
        )
        changes.clear()
        before = assigned(other)
        other.close()
        other = member("other")
        poll_until(lambda: assigned(other) == before, [one, other], f"it has {before} again")
        expect(changes, [], "what the other noticed")
    finally:
        one.close()
        other.close()


def assigned(consumer: Consumer) -> set[int]:
    return {place.partition for place in consumer.assignment()}


def produce_numbers(script: Script, topic: str, numbers: range) -> None:
    records = [(i % GROUP_PARTITIONS, Record(None, str(i).encode())) for i in numbers]
    produce(script, topic, records)


def poll_until(condition: Callable[[], bool], consumers: list[Consumer], what: str) -> None:
    """Polls the members, which find their places meanwhile; there is nothing to read yet."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while not condition():
        for consumer in consumers:
            message = consumer.poll(0.05)
            if message is not None:
                raise MismatchError(f"unexpected: {message.error() or message.value()}")
        if time.monotonic() > deadline:
            places = [sorted(assigned(consumer)) for consumer in consumers]
            raise MismatchError(f"not reached: {what}; assigned: {places}")


def poll_numbers(consumers: list[Consumer], count: int) -> list[int]:
    numbers: list[int] = []
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while len(numbers) < count and time.monotonic() < deadline:
        for consumer in consumers:
            for message in consumer.consume(count, timeout=0.05):
                if message.error():
                    raise KafkaException(message.error())
                numbers.append(int(message.value()))
    return numbers


def committed(client: AdminClient, group: str) -> dict[int, int]:
    asked = ConsumerGroupTopicPartitions(group)
    answer = client.list_consumer_group_offsets([asked])[group].result()
    return {place.partition: place.offset for place in answer.topic_partitions}


def transactions(script: Script) -> None:
    # What ends a transaction is answered before its markers are written: hence "eventually".
    topic = script.name("transactions")
    client = admin_client(script)
    create_topic(client, topic, 8)

    def transactional_producer(suffix: str, **config: object) -> Producer:
        names = {"bootstrap.servers": script.bootstrap, "transactional.id": script.name(suffix)}
        producer = Producer({**names, **config})
        producer.init_transactions(GIVE_UP_SECONDS)
        return producer

    def values(partition: int, isolation: str = "read_committed") -> list[bytes | None]:
        config = {"isolation.level": isolation}
        found = read(script, topic, {partition: 0}, **config)[partition]
        return [one.value for _, one in found]

    with script.check("commit"):
        producer = transactional_producer("commit")
        producer.begin_transaction()
        send(producer, topic, [(0, Record(None, b"a")), (1, Record(None, b"b"))])
        producer.commit_transaction(GIVE_UP_SECONDS)
        eventually(lambda: values(0) + values(1) == [b"a", b"b"], "the records are seen")
    with script.check("abort"):
        producer = transactional_producer("abort")
        producer.begin_transaction()
        send(producer, topic, [(2, Record(None, b"aborted"))])
        producer.flush(GIVE_UP_SECONDS)
        producer.abort_transaction(GIVE_UP_SECONDS)
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
        producer.commit_transaction(GIVE_UP_SECONDS)
        eventually(lambda: values(3) == [b"open", b"behind"], "both records are seen")
    with script.check("alternate"):
        producer = transactional_producer("alternate")
        for i in range(20):
            producer.begin_transaction()
            send(producer, topic, [(4, Record(None, str(i).encode()))])
            producer.flush(GIVE_UP_SECONDS)
            if i % 2:
                producer.abort_transaction(GIVE_UP_SECONDS)
            else:
                producer.commit_transaction(GIVE_UP_SECONDS)
        wanted: list[bytes | None] = [str(i).encode() for i in range(0, 20, 2)]
        eventually(lambda: values(4) == wanted, "exactly the committed records are seen")
    with script.check("fencing"):
        fencing(script, topic, transactional_producer)
        eventually(lambda: values(5) == [b"second"], "only the second producer's record")
    with script.check("timeout"):
        late = transactional_producer("late", **{"transaction.timeout.ms": 1000})
        late.begin_transaction()
        send(late, topic, [(7, Record(None, b"late"))])
        late.flush(GIVE_UP_SECONDS)
        produce(script, topic, [(7, Record(None, b"behind"))])
        eventually(lambda: values(7) == [b"behind"], "only the record behind the transaction")
        cannot_commit(late)
    offsets_in_transactions(script, topic, client, transactional_producer)


def fencing(script: Script, topic: str, transactional_producer: Callable[[str], Producer]) -> None:
    first = transactional_producer("fenced")
    first.begin_transaction()
    send(first, topic, [(5, Record(None, b"first"))])
    first.flush(GIVE_UP_SECONDS)
    second = transactional_producer("fenced")
    second.begin_transaction()
    send(second, topic, [(5, Record(None, b"second"))])
    second.commit_transaction(GIVE_UP_SECONDS)
    cannot_commit(first)


def cannot_commit(fenced: Producer) -> None:
    try:
        fenced.commit_transaction(GIVE_UP_SECONDS)
    except KafkaException as error:
        expect(error.args[0].code(), KafkaError._FENCED, f"the error ({error.args[0]})")
    else:
        raise MismatchError("the producer could commit")


def offsets_in_transactions(
    script: Script,
    topic: str,
    client: AdminClient,
    transactional_producer: Callable[[str], Producer],
) -> None:
    group = script.name("transactional-group")
    consumer = Consumer({"bootstrap.servers": script.bootstrap, "group.id": group})

    def send_offset(offset: int) -> Producer:
        producer = transactional_producer("send-offsets")
        producer.begin_transaction()
        send(producer, topic, [(6, record(0))])
        offsets = [TopicPartition(topic, 6, offset)]
        metadata = consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction(offsets, metadata, GIVE_UP_SECONDS)
        producer.flush(GIVE_UP_SECONDS)  # an abort would drop what is not sent yet
        return producer

    try:
        with script.check("send-offsets"):
            send_offset(7).commit_transaction(GIVE_UP_SECONDS)
            eventually(lambda: committed(client, group) == {6: 7}, "offset 7 is committed")
        with script.check("send-offsets-abort"):
            send_offset(9).abort_transaction(GIVE_UP_SECONDS)
            expect(committed(client, group), {6: 7}, "the committed offset")
    finally:
        consumer.close()
