"""kcat, the command-line client on librdkafka, against any broker.

    python -m tests.conformance.clients.python.kcat_client 127.0.0.1:9092 produce consume

kcat writes lines: every topic here has one partition (kcat creates topics only by writing to
them), records are text, the headers are those of the call, timestamps are the time of day.
"""

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.conformance.clients.python.checks import (
    GIVE_UP_SECONDS,
    GROUP_CHECKS,
    RECORDS,
    MismatchError,
    Script,
    eventually,
    expect,
    main,
    now_ms,
)

HEADERS = ["seq", "1", "seq", "2", "null", None, "empty", ""]
HEADER_OPTIONS = ["-H", "seq=1", "-H", "seq=2", "-H", "null", "-H", "empty="]


def kcat(script: Script, *arguments: str, stdin: bytes | None = None, code: int = 0) -> str:
    """What one call of kcat prints; its standard error stands in the exception if it fails."""
    result = subprocess.run(
        ["kcat", "-b", script.bootstrap, *arguments],
        input=stdin,
        capture_output=True,
        timeout=GIVE_UP_SECONDS,
        check=False,
    )
    said = result.stderr.decode(errors="replace")
    expect(result.returncode, code, f"the exit code of kcat {' '.join(arguments)} ({said[-500:]})")
    return result.stdout.decode() if code == 0 else said


def produce(script: Script, topic: str, lines: Iterable[str], *options: str) -> None:
    stdin = "".join(f"{line}\n" for line in lines).encode()
    kcat(script, "-P", "-t", topic, "-p", "0", *options, stdin=stdin)


def read(script: Script, topic: str, *options: str) -> list[dict[str, Any]]:
    """The records from an offset (the beginning, unless the options say otherwise) to the end."""
    start = () if "-o" in options else ("-o", "beginning")
    quick = ("-X", "fetch.wait.max.ms=10")
    printed = kcat(script, "-C", "-t", topic, "-p", "0", *start, *quick, "-e", "-J", *options)
    return [json.loads(line) for line in printed.splitlines()]


def payloads(records: Sequence[dict[str, Any]]) -> list[str | None]:
    return [one["payload"] for one in records]


def expect_read(records: Sequence[dict[str, Any]], wanted: Sequence[str], first: int = 0) -> None:
    """These payloads, at dense offsets."""
    expect(payloads(records), list(wanted), "the payloads")
    offsets = [one["offset"] for one in records]
    expect(offsets, list(range(first, first + len(wanted))), "the offsets")


def metadata(script: Script, topic: str | None = None) -> Any:
    only = () if topic is None else ("-t", topic)
    return json.loads(kcat(script, "-L", "-J", *only))


def offset_at(script: Script, topic: str, timestamp: int) -> int:
    """The offset for a timestamp; -1 asks for the end and -2 for the beginning."""
    printed = kcat(script, "-Q", "-t", f"{topic}:0:{timestamp}")
    return int(printed.split()[-1])


def admin(script: Script) -> None:
    topic = script.name("admin")
    no_call = "kcat has no such call"
    for check in ("create-topic", "create-topic-again", "create-topic-bad-name"):
        script.unsupported(check, no_call)
    for check in ("create-topic-validate-only", "create-topic-assignment"):
        script.unsupported(check, no_call)
    produce(script, topic, map(str, range(10)))
    with script.check("list-topics"):
        names = [one["topic"] for one in metadata(script)["topics"]]
        expect(topic in names, True, "the topic is in the list")
    with script.check("describe-topic"):
        (described,) = metadata(script, topic)["topics"]
        (broker,) = metadata(script)["brokers"]
        node = {"id": broker["id"]}
        wanted = [{"partition": 0, "leader": broker["id"], "replicas": [node], "isrs": [node]}]
        expect(described["partitions"], wanted, "the partitions")
    with script.check("describe-unknown-topic"):
        name = script.name("admin-unknown")
        (described,) = metadata(script, name)["topics"]
        # kcat allows the broker to create what it asks for, and asks twice at once, showing the
        # second answer: a quick broker has created it by then.
        if not described["partitions"]:
            expect(described.get("error"), "Broker: Unknown topic or partition", "the error")
        eventually(
            lambda: len(metadata(script, name)["topics"][0]["partitions"]) == 1,
            "the topic is created",
        )
    for check in ("describe-configs", "alter-configs", "create-partitions"):
        script.unsupported(check, no_call)
    with script.check("describe-cluster"):
        cluster = metadata(script)
        expect([one["name"] for one in cluster["brokers"]], [script.bootstrap], "the brokers")
        expect(cluster["controllerid"], cluster["brokers"][0]["id"], "the controller")
    with script.check("list-offsets"):
        expect(offset_at(script, topic, -2), 0, "earliest")
        expect(offset_at(script, topic, -1), 10, "latest")
        expect(offset_at(script, topic, 1), 0, "by timestamp")
    for check in ("delete-records", "describe-log-dirs", "delete-topic"):
        script.unsupported(check, no_call)


def producing(script: Script) -> None:
    topic = script.name("produce")
    with script.check("auto-create"):
        produce(script, topic, ["first"])
        expect_read(read(script, topic), ["first"])

    def round_trip(name: str, *options: str) -> None:
        """Writes 100 lines and expects them behind what is there."""
        end = offset_at(script, topic, -1)
        lines = [f"{name}-{i}" for i in range(100)]
        produce(script, topic, lines, *options)
        if name == "acks-0":
            eventually(lambda: offset_at(script, topic, -1) == end + 100, "100 records are there")
        expect_read(read(script, topic, "-o", str(end)), lines, end)

    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        with script.check(f"codec-{codec}"):
            round_trip(codec, "-z", codec)
    for check in ("headers", "null-header"):
        with script.check(check):
            end = offset_at(script, topic, -1)
            produce(script, topic, ["value"], *HEADER_OPTIONS)
            (record,) = read(script, topic, "-o", str(end))
            expect(record["headers"], HEADERS, "the headers")
    end = offset_at(script, topic, -1)
    # -Z makes what is empty a null.
    produce(script, topic, [":value", "key:"], "-K", ":")
    produce(script, topic, [":value", "key:"], "-K", ":", "-Z")
    with script.check("null-key"):
        empty, _, null, _ = read(script, topic, "-o", str(end))
        expect((empty["key"], null["key"]), ("", None), "an empty key and none")
    with script.check("null-value"):
        _, empty, _, null = read(script, topic, "-o", str(end))
        expect((empty["payload"], null["payload"]), ("", None), "an empty value and none")
    for acks in ("0", "1", "all"):
        with script.check(f"acks-{acks}"):
            round_trip(f"acks-{acks}", "-X", f"acks={acks}")
    with script.check("idempotent"):
        more = ("-X", "enable.idempotence=true", "-X", "batch.num.messages=7")
        round_trip("idempotent", *more)
    script.unsupported("partition", "kcat cannot create a topic with more than one partition")
    script.unsupported("timestamp", "kcat writes every record with the time of day")
    script.unsupported("log-append-time", "kcat cannot create a topic with settings")
    with script.check("large-message"), a_file(bytes(65 + i % 26 for i in range(900_000))) as path:
        end = offset_at(script, topic, -1)
        kcat(script, "-P", "-t", topic, str(path))
        (record,) = read(script, topic, "-o", str(end))
        expect(record["payload"], path.read_text(), "the payload")
    with script.check("too-large-message"), a_file(os.urandom(2_000_000)) as path:
        end = offset_at(script, topic, -1)
        more = ("-z", "none", "-X", "message.max.bytes=3000000")
        said = kcat(script, "-P", "-t", topic, *more, str(path), code=1)
        expect("Broker: Message size too large" in said, True, f"refused as too large ({said})")
        produce(script, topic, ["next"])
        expect_read(read(script, topic, "-o", str(end)), ["next"], end)
    script.unsupported("compacted-null-key", "kcat cannot create a topic with settings")


@contextmanager
def a_file(content: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "message"
        path.write_bytes(content)
        yield path


def keyed_lines(numbers: range) -> list[str]:
    """What kcat -K: -Z takes: every sixth record has no key, every sixth no value."""
    return [
        f"{'' if i % 6 == 4 else f'key-{i}'}:{'' if i % 6 == 5 else f'value-{i}'}" for i in numbers
    ]


def expect_keyed(records: Sequence[dict[str, Any]], count: int) -> None:
    """All that keyed_lines made: every key, value and header, offsets dense, timestamps of now."""
    for i, record in enumerate(records):
        wanted = {
            "offset": i,
            "key": None if i % 6 == 4 else f"key-{i}",
            "payload": None if i % 6 == 5 else f"value-{i}",
            "headers": HEADERS,
            "tstype": "create",
        }
        actual = {name: record.get(name) for name in wanted}
        expect(actual, wanted, f"record {i}")
        expect(abs(now_ms() - record["ts"]) < 600_000, True, f"the time of record {i} is now")
    expect(len(records), count, "the number of records")


def consume(script: Script) -> None:
    topic = script.name("consume")
    produce(script, topic, keyed_lines(range(RECORDS)), "-K", ":", "-Z", *HEADER_OPTIONS)
    with script.check("beginning"):
        expect_keyed(read(script, topic), RECORDS)
    with script.check("offset"):
        records = read(script, topic, "-o", "42")
        expect([one["offset"] for one in records], list(range(42, RECORDS)), "the offsets")
    with script.check("timestamp"):
        # Two calls of kcat: the second comes some milliseconds later.
        produce(script, topic, ["later"])
        moment = read(script, topic, "-o", str(RECORDS))[0]["ts"]
        expect(offset_at(script, topic, moment), RECORDS, "the offset for the timestamp")
        expect_read(read(script, topic, "-o", f"s@{moment}"), ["later"], RECORDS)
    with script.check("timestamp-past-end"):
        offset = offset_at(script, topic, now_ms() + 3_600_000)
        expect(offset, -1, "the offset for a timestamp past the end")
    with script.check("out-of-range"):
        reset = ("-X", "auto.offset.reset=earliest")
        records = read(script, topic, "-o", "1000000", *reset)
        expect([one["offset"] for one in records], list(range(RECORDS + 1)), "the offsets")
    with script.check("end"):
        read_from_end(script, topic)
    with script.check("many"):
        lines = [f"{i:0500d}" for i in range(10_000)]
        produce(script, script.name("many"), lines)
        expect_read(read(script, script.name("many")), lines)


def read_from_end(script: Script, topic: str) -> None:
    with running(script, "-C", "-t", topic, "-p", "0", "-o", "end", "-c", "1", "-J") as reader:
        wait_for(reader, "Reached end of topic")
        produce(script, topic, ["behind the end"])
        (line,) = read_lines(reader, 1)
        expect_read([json.loads(line)], ["behind the end"], RECORDS + 1)


@contextmanager
def running(script: Script, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A kcat that goes on for the time of the block; killed when that takes too long."""
    command = ["kcat", "-b", script.bootstrap, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        too_late = threading.Timer(GIVE_UP_SECONDS, process.kill)
        too_late.start()
        try:
            yield process
            process.terminate()
            process.communicate()
        finally:
            too_late.cancel()
            process.kill()


def wait_for(process: subprocess.Popen[str], words: str) -> str:
    """The first line of its standard error with these words."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if words in line:
            return line
    raise MismatchError(f"kcat ended without '{words}'; it said: {said}")


def restart_before(script: Script) -> None:
    with script.check("write"):
        write_for_restart(script, range(RECORDS))


def after_restart(there: int, script: Script) -> None:
    """So many records are there; as many as the first time are written behind them."""
    topic = script.name("restart")
    with script.check("topic-kept"):
        (described,) = metadata(script, topic)["topics"]
        expect(len(described["partitions"]), 1, "partitions")
    with script.check("read-back"):
        expect_keyed(read(script, topic), there)
    with script.check("write-more"):
        expect(offset_at(script, topic, -1), there, "the end before")
        write_for_restart(script, range(there, there + RECORDS))
        expect(offset_at(script, topic, -1), there + RECORDS, "the end after")
    with script.check("read-all"):
        expect_keyed(read(script, topic), there + RECORDS)


def write_for_restart(script: Script, numbers: range) -> None:
    more = ("-K", ":", "-Z", "-X", "enable.idempotence=true", *HEADER_OPTIONS)
    produce(script, script.name("restart"), keyed_lines(numbers), *more)


def groups(script: Script) -> None:
    """Four topics of one partition each; kcat commits when it ends."""
    topics = [script.name(f"groups-{number}") for number in range(4)]
    # A reader of topics that are not there yet would have to wait for its metadata to be renewed.
    for topic in topics:
        produce(script, topic, ["not for the group"])
    member = [
        *("-G", script.name("groups"), "-u"),
        *("-X", "partition.assignment.strategy=roundrobin"),
        *("-X", "heartbeat.interval.ms=300"),
        *("-X", "auto.offset.reset=latest"),
    ]
    with running(script, *member, *topics) as one:
        with script.check("share"):
            wait_for(one, "assigned: ")
            with running(script, *member, *topics) as other:
                # The one member has all four topics first; then they are shared.
                taken = topics_in(wait_for(other, "assigned: "), topics)
                kept = topics_in(wait_for(one, "assigned: "), topics)
                expect(sorted(taken + kept), topics, "the shared topics")
                expect((len(taken), len(kept)), (2, 2), "topics for each")
                for process in (one, one, other, other):
                    wait_for(process, "Reached end of topic")
                for topic in topics:
                    produce(script, topic, [f"first of {topic}"])
                for process, its_topics in ((one, kept), (other, taken)):
                    wanted = sorted(f"first of {topic}" for topic in its_topics)
                    expect(read_lines(process, 2), wanted, "what a member reads")
        with script.check("leave"):
            back = topics_in(wait_for(one, "assigned: "), topics)
            expect(sorted(back), topics, "all topics are the first member's again")
    for check in ("commit", "describe", "delete"):
        script.unsupported(check, "kcat has no such call")
    with script.check("resume"):
        for topic in topics:
            produce(script, topic, [f"second of {topic}"])
        printed = kcat(script, *member, "-e", *topics).splitlines()
        expect(sorted(printed), sorted(f"second of {topic}" for topic in topics), "what is new")
    with script.check("static"):
        member[member.index("-G") + 1] += "-static"
        static_members(script, member, topics)


def static_members(script: Script, member: Sequence[str], topics: Sequence[str]) -> None:
    def static(name: str) -> list[str]:
        return [*member, "-X", f"group.instance.id={name}", *topics]

    with running(script, *static("one")) as one:
        wait_for(one, "assigned: ")
        with running(script, *static("other")) as other:
            before = topics_in(wait_for(other, "assigned: "), topics)
            wait_for(one, "assigned: ")
        with running(script, *static("other")) as again:
            back = topics_in(wait_for(again, "assigned: "), topics)
            expect(back, before, "the topics of the member that came back")
        one.terminate()
        _, said = one.communicate()
        expect("assigned: " in said, False, "the other noticed something")


def topics_in(line: str, topics: Sequence[str]) -> list[str]:
    return [topic for topic in topics if f"{topic} [0]" in line]


def read_lines(member: subprocess.Popen[str], count: int) -> list[str]:
    assert member.stdout is not None
    return sorted(member.stdout.readline().rstrip() for _ in range(count))


def consumer_protocol(script: Script) -> None:
    for check in GROUP_CHECKS:
        script.unsupported(check, "the librdkafka of this kcat (2.0) has the classic protocol only")


def transactions(script: Script) -> None:
    committed = ("-X", "isolation.level=read_committed")
    with script.check("commit"):
        topic = script.name("transactions")
        more = ("-X", f"transactional.id={script.name('commit')}")
        produce(script, topic, ["a", "b"], *more)
        # What ends a transaction is answered before its markers are written.
        eventually(
            lambda: payloads(read(script, topic, *committed)) == ["a", "b"],
            "the committed records are seen",
        )
    for check in ("abort", "open", "alternate", "fencing", "timeout"):
        script.unsupported(check, "kcat writes all of its input in one transaction and commits it")
    for check in ("send-offsets", "send-offsets-abort"):
        script.unsupported(check, "kcat does not read and write in one transaction")


if __name__ == "__main__":
    main(
        "kcat",
        {
            "admin": admin,
            "produce": producing,
            "consume": consume,
            "cluster": Script.unsupported_cluster,
            "restart-before": restart_before,
            "restart-after": partial(after_restart, RECORDS),
            "kill-after": partial(after_restart, 2 * RECORDS),
            "groups": groups,
            "groups-consumer-protocol": consumer_protocol,
            "transactions": transactions,
        },
    )
