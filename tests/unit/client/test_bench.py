"""The pure parts of ``fencepost bench``: lines as Apache Kafka's tools write them, and the rest."""

from __future__ import annotations

import argparse
import random
import re

import pytest
from fencepost_client.commands import bench
from fencepost_client.commands.bench.lines import (
    CONSUMER_DETAILED_HEADER,
    CONSUMER_HEADER,
    ConsumerStats,
    ProducerStats,
    metric_lines,
    moment,
    phase_line,
)
from fencepost_client.commands.bench.settings import merge
from fencepost_client.commands.bench.throttle import Throttle
from fencepost_client.config.kafka_names import read_properties
from fencepost_client.metrics import Histogram, RequestMetrics
from fencepost_protocol.generated.index import ApiKey

# What the tools of Apache Kafka 4.3.1 wrote.
KAFKA_PROGRESS = (
    "820 records sent, 1636.7 records/sec (0.16 MB/sec), 8.3 ms avg latency, 21.0 ms max latency."
)
KAFKA_TOTAL = (
    "1500 records sent, 992.720053 records/sec (0.09 MB/sec), 15.96 ms avg latency, 635.00 ms max "
    "latency, 7 ms 50th, 63 ms 95th, 68 ms 99th, 83 ms 99.9th."
)
KAFKA_STEADY = (
    "1200 steady state records sent, 1351.351351 records/sec (0.13 MB/sec), 7.14 ms avg latency, "
    "21.00 ms max latency, 6 ms 50th, 15 ms 95th, 19 ms 99th, 21 ms 99.9th."
)
KAFKA_CONSUMER = (
    "2026-11-21 23:04:59:375, 2026-11-21 23:04:59:869, 0.1431, 0.2896, 1510, 3056.6802, 399, 95, "
    "1.5059, 15894.7368"
)


def form_of(line: str) -> str:
    """A line with its numbers as so many digits behind the point."""
    return re.sub(r"\d+(?:\.(\d+))?", lambda found: f"<{len(found[1] or '')}>", line)


def test_lines_of_the_producer_have_the_form_of_kafkas() -> None:
    stats = ProducerStats(1000.0)
    for latency_ms in range(1, 1001):
        stats.acknowledged(latency_ms, 1024)
    assert stats.progress_line(3000.0) == (
        "1000 records sent, 500.0 records/sec (0.49 MB/sec), 500.5 ms avg latency, "
        "1000.0 ms max latency."
    )
    line = stats.total_line(3000.0)
    assert line.startswith("1000 records sent, 500.000000 records/sec (0.49 MB/sec), 500.50 ms avg")
    # Kafka repeats "99th" and "99.9th" as names, so numbers in them are compared as well.
    assert form_of(line) == form_of(KAFKA_TOTAL)
    assert form_of(stats.total_line(3000.0, " steady state")) == form_of(KAFKA_STEADY)
    assert form_of(stats.progress_line(3000.0)) == form_of(KAFKA_PROGRESS)
    assert "0 records sent, 0.0 records/sec" in ProducerStats(0).progress_line(0), "of no time"


def test_lines_of_the_consumer_are_kafkas() -> None:
    stats = ConsumerStats(0.0)
    stats.records, stats.size_bytes, stats.rebalance_ms = 1510, 150_010, 399
    line = stats.line("2026-11-21 23:04:59:375, 2026-11-21 23:04:59:869", 494.0)
    assert line == KAFKA_CONSUMER
    before = ConsumerStats(0.0)
    before.records = 10
    assert ", 1520, " in stats.line("now, 0", 494.0, before)
    assert len(CONSUMER_HEADER.split(", ")) == len(CONSUMER_DETAILED_HEADER.split(", ")) == 10
    assert form_of(moment(1e9 + 0.375)) == "<0>-<0>-<0> <0>:<0>:<0>:<0>"
    assert moment(1e9 + 0.375, "SSS %1").endswith("375 %1")
    with pytest.raises(ValueError, match="'d' is none of"):
        moment(0, "%d")
    with pytest.raises(ValueError, match="'EEE' is none of"):
        moment(0, "EEE")


def test_a_histogram_is_bounded_and_nearly_exact() -> None:
    histogram = Histogram()
    assert (histogram.percentile(0.5), histogram.mean) == (0, 0.0)
    chance = random.Random(7)
    values = sorted(int(chance.lognormvariate(6, 3)) for _ in range(10_000))
    for value in values:
        histogram.record(value)
    assert (histogram.count, histogram.largest) == (len(values), values[-1])
    assert histogram.total == sum(values)
    for share in (0.0, 0.5, 0.95, 0.99, 0.999):
        exact = values[int(share * len(values))]
        assert abs(histogram.percentile(share) - exact) <= exact * 0.008
    histogram.record(1 << 60)
    histogram.record(-5)
    assert histogram.percentile(0.0) == 0
    assert histogram.percentile(1.0) == histogram.largest == (1 << 40) - 1
    small = Histogram()
    small.record(3, 2)
    assert (small.count, small.total, small.percentile(0.999)) == (2, 6, 3)


def test_metrics_and_phases() -> None:
    metrics = RequestMetrics()
    metrics.finished(ApiKey.PRODUCE, 1500, is_answered=True)
    metrics.finished(ApiKey.PRODUCE, 9000, is_answered=False)
    lines = list(metric_lines(metrics))
    assert [line.rpartition(" : ")[2] for line in lines] == ["1", "1", "1.500", "1.500"]
    assert phase_line("end", metrics.of(ApiKey.PRODUCE).times_us).startswith(
        "end: 1 times, 1.50 ms avg latency, 1.50 ms max latency, 1.50 ms 50th, "
    )


def test_a_throttle_keeps_a_rate() -> None:
    throttle = Throttle(100, started_s=50.0)
    assert throttle.pause_seconds(10, now_s=50.0) == pytest.approx(0.1)
    assert throttle.pause_seconds(10, now_s=51.0) == 0.0
    assert Throttle(-1, 0.0).pause_seconds(1_000_000, 0.0) == 0.0


def test_properties_override_the_file_and_options_both() -> None:
    file = read_properties("# a comment\n\nacks = 1\nlinger.ms:7\nkey.serializer=Java\n")
    assert file == {"acks": "1", "linger.ms": "7", "key.serializer": "Java"}
    assert read_properties("a=b=c") == {"a": "b=c"}
    merged = merge(
        {"client.id": "perf", "acks": "all"}, file, [("linger.ms", "9"), ("transactional.id", "p")],
        {"transactional.id": "o", "group.id": None},
    )  # fmt: skip
    assert merged == {
        "client.id": "perf", "acks": "1", "linger.ms": "9", "transactional.id": "o",
    }  # fmt: skip
    with pytest.raises(ValueError, match="line 2: expected name=value"):
        read_properties("a=b\nword")
    with pytest.raises(ValueError, match="line 1: continued lines"):
        read_properties("a=b\\\nc")


def words(text: str) -> list[str]:
    return text.split()


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    bench.COMMAND.add_arguments(parser)
    return parser.parse_args(arguments)


def test_the_options_are_those_of_kip_609_and_of_kafkas_tools() -> None:
    options = parse(
        *words("eos --input-topic i --output-topic o --num-records 5 --throughput -1"),
        *words("--group-id g"),
        *words("--consumer-config c --consumer-props a=1 b=2 --producer-config p"),
        *words("--producer-props c=3 --poll-timeout 7 --transactional-id t"),
        *words("--transaction-duration-ms 9 --no-preregister"),
    )
    assert options.consumer_props == [("a", "1"), ("b", "2")]
    assert (options.consumer_config, options.producer_config) == ("c", "p")
    assert (options.poll_timeout, options.transaction_duration_ms) == (7, 9)
    assert options.preregister is False
    needed = words("producer --topic t --num-records 5 --throughput 1.5")
    options = parse(
        *needed, "--record-size", "7", "--producer.config", "f", "--command-property", "x=y"
    )
    assert (options.producer_config, options.producer_props) == ("f", [("x", "y")])
    for wrong in ([], ["--record-size", "0"], ["--record-size", "1", "--payload-monotonic"]):
        with pytest.raises(SystemExit):
            parse(*needed, *wrong)
    with pytest.raises(SystemExit):
        parse(*needed[:-1], "nan", "--record-size", "7")
