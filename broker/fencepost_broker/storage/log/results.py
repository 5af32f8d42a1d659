"""What a log answers, and what it has to tell.

An ``error`` is an error code that travels in a reply; ``ErrorCode.NONE`` is zero, so
``if result.error`` reads well. Events are what a person should hear; the server logs them.
"""

from enum import Enum, IntEnum
from typing import Final, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import NO_TIMESTAMP

UNKNOWN_OFFSET: Final = -1
UNKNOWN_EPOCH: Final = -1
_NO_ERROR: Final = ErrorCode.NONE


class Origin(IntEnum):
    """Who appends, which decides what is checked."""

    CLIENT = 0
    """Everything is checked."""
    COORDINATOR = 1
    """A coordinator of this broker: offsets and markers, without sequence numbers."""
    REPLICATION = 2
    """The leader has checked already."""


class UpperBound(Enum):
    """How far a read may see."""

    LOG_END = "log end"
    HIGH_WATERMARK = "high watermark"
    LAST_STABLE = "last stable offset"


class RecordError(NamedTuple):
    """One record of a refused batch (Produce v8+)."""

    batch_index: int
    message: str


class AppendResult:
    """What became of an append: its offsets, or why there are none."""

    __slots__ = (
        "base_offset",
        "duplicate",
        "error",
        "last_offset",
        "log_append_time_ms",
        "log_start_offset",
        "message",
        "record_errors",
    )

    def __init__(
        self,
        error: ErrorCode = ErrorCode.NONE,
        base_offset: int = UNKNOWN_OFFSET,
        last_offset: int = UNKNOWN_OFFSET,
        log_append_time_ms: int = NO_TIMESTAMP,
        log_start_offset: int = UNKNOWN_OFFSET,
        *,
        duplicate: bool = False,
        message: str | None = None,
        record_errors: tuple[RecordError, ...] = (),
    ) -> None:
        self.error = error
        self.base_offset = base_offset
        self.last_offset = last_offset
        self.log_append_time_ms = log_append_time_ms
        """Set with LogAppendTime, and for duplicates, when the first copy was appended."""
        self.log_start_offset = log_start_offset
        self.duplicate = duplicate
        """The batch was in the log already: nothing was written, the offsets are the first copy's.
        """
        self.message = message
        self.record_errors = record_errors


class AbortedTransaction(NamedTuple):
    """A producer whose transactional records from this offset on are to be skipped."""

    producer_id: int
    first_offset: int


class ReadResult:
    """Records that were read, or why there are none.

    The pieces follow one another. As in Kafka the last batch may be cut off, because the next read
    begins with it.
    """

    __slots__ = (
        "aborted",
        "error",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "message",
        "pieces",
        "size",
    )

    def __init__(
        self,
        aborted: list[AbortedTransaction] | None,
        high_watermark: int,
        last_stable_offset: int,
        log_start_offset: int,
    ) -> None:
        self.error = _NO_ERROR
        self.pieces: list[memoryview] | None = []
        self.size = 0
        self.aborted = aborted
        """``None`` unless the read was bounded by the last stable offset."""
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.message: str | None = None


class FoundOffset(NamedTuple):
    """What ListOffsets answers for one partition."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


class EpochEnd(NamedTuple):
    """The largest epoch not above the one that was asked for, and where it ends."""

    epoch: int
    end_offset: int


class ProducerDescription(NamedTuple):
    """What DescribeProducers shows of one producer."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int
    current_transaction_first_offset: int


# --- events -----------------------------------------------------------------------------------


class LogEvent(NamedTuple):
    """Something happened to a partition's files that a person should hear of."""

    kind: str
    """One word or two with a hyphen: what a log line is filtered by."""
    partition: str
    text: str
    """A sentence for people."""
    unexpected: bool = False
    """Worth a warning: data or files were not as they should have been."""
    area: str = "log"
    """The log area that tells of it."""
    is_detail: bool = False
    """Of interest only when looking for a fault."""
