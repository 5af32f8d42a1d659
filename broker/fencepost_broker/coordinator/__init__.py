"""The coordinators of groups, with their offsets, and of transactions.

Each coordinator is a pure state machine for one partition of ``__consumer_offsets`` or
``__transaction_state``; a replay of that partition's log loads it. This package exports the names
that both kinds share.
"""

from fencepost_broker.coordinator.effects import Reply, Tell
from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import (
    BatchTooLargeError,
    LogRecord,
    RecordFamily,
    UnknownRecordTypeError,
    decode_record,
    encode_batch,
    encode_key,
    encode_value,
)

__all__ = [
    "BatchTooLargeError",
    "LogRecord",
    "RecordFamily",
    "Reply",
    "Tell",
    "UnknownRecordTypeError",
    "decode_record",
    "encode_batch",
    "encode_key",
    "encode_value",
    "partition_of",
]
