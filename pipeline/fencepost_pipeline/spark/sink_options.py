"""The options of ``format("fencepost")`` to write, by the names of Spark's own Kafka sink."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Final

from fencepost_client.config.kafka_names import (
    COMMON_NAMES,
    PRODUCER_NAMES,
    Names,
    read_compression,
)
from fencepost_client.errors import ConfigError

from fencepost_pipeline.sink.commit_protocol import MarkerPlace
from fencepost_pipeline.sink.marker import Allowance, Batch
from fencepost_pipeline.sink.settings import BATCH_BYTES, TRANSACTION_TIMEOUT_MS, SinkSettings
from fencepost_pipeline.spark.options import Options

WRITE_OPTIONS: Final = (
    "sinkId",
    "topic",
    "markerGroup",
    "markerTopic",
    "acceptMissingMarker",
    "continueQuery",
    "transactions",
    "batchId",
    "queryId",
)
"""``batchId`` and ``queryId`` are set by :func:`exactly_once_sink` for what it writes."""
WITHOUT_EFFECT: Final = (
    "checkpointLocation",
    "path",
    "queryName",
    "kafka.acks",
    "kafka.enable.idempotence",
)
"""Spark's own (``queryName`` is what ``DataStreamWriter.queryName`` sets), and what the sink has
always: all replicas, no repetition."""
_NUMBERS: Final = {
    "batch.size": "batch_bytes",
    "buffer.memory": "buffer_bytes",
    "delivery.timeout.ms": "delivery_timeout_ms",
    "max.block.ms": "api_timeout_ms",
    "transaction.timeout.ms": "transaction_timeout_ms",
}
"""Settings of a producer, and what they are called here."""
SINK_NAMES: Final[Names] = {
    **COMMON_NAMES,
    **{name: PRODUCER_NAMES[name] for name in (*_NUMBERS, "compression.type", "transactional.id")},
}
MARKER_TOPIC: Final = "__consumer_offsets"
"""A topic that is there wherever groups are, and that nobody deletes, which would take away the
offsets of its partitions."""


def read_stream_options(given: Mapping[str, str]) -> SinkSettings:
    """Of ``df.writeStream``: batches have numbers, so there is a marker."""
    options = _options(given, "df.writeStream.format('fencepost')")
    return _settings(options, options.required("sinkId", "orders-to-totals"), given)


def read_batch_options(given: Mapping[str, str]) -> tuple[SinkSettings, Batch | None]:
    """Of ``df.write``: one transaction; a marker only for batches of ``exactly_once_sink``."""
    options = _options(given, "df.write.format('fencepost')")
    sink_id = options.text("sinkId")
    batch_id = options.whole("batchId")
    if batch_id is not None:  # of exactly_once_sink
        settings = _settings(options, options.required("sinkId", "orders-to-totals"), given)
        return settings, Batch(batch_id, options.required("queryId", "..."))
    return _settings(options, sink_id or f"write-{uuid.uuid4()}", None), None


def _options(given: Mapping[str, str], place: str) -> Options:
    return Options(given, WRITE_OPTIONS, place, SINK_NAMES, WITHOUT_EFFECT)


def _settings(options: Options, sink_id: str, streaming: Mapping[str, str] | None) -> SinkSettings:
    client = {name: value for name, value in options.client.items() if name in COMMON_NAMES}
    numbers = {
        keyword: _whole(options, name)
        for name, keyword in _NUMBERS.items()
        if name in options.client
    }
    try:
        codec = read_compression(options.client.get("compression.type", "none"))
    except ConfigError as error:
        raise options.error(f"kafka.{error}") from None
    place = None
    transactional = options.flag("transactions", True)
    if streaming is not None and transactional:
        place = MarkerPlace(
            options.text("markerGroup") or f"spark-sink-{sink_id}",
            options.text("markerTopic") or MARKER_TOPIC,
        )
    given = {"batch_bytes": BATCH_BYTES, "transaction_timeout_ms": TRANSACTION_TIMEOUT_MS} | numbers
    return SinkSettings(
        client,
        options.client.get("transactional.id") or f"spark-{sink_id}",
        place,
        options.text("topic"),
        codec=codec,
        transactional=transactional,
        allowed=Allowance(
            options.flag("acceptMissingMarker", False), options.text("continueQuery")
        ),
        checkpoint=_checkpoint(streaming),
        **given,
    )


def _whole(options: Options, name: str) -> int:
    text = options.client[name]
    if not text.isdigit() or int(text) < 1:
        raise options.error(f"kafka.{name} is {text!r}: write a whole number from 1 on")
    return int(text)


def _checkpoint(streaming: Mapping[str, str] | None) -> str | None:
    for name, value in (streaming or {}).items():
        if name.lower() == "checkpointlocation":
            return value
    return None
