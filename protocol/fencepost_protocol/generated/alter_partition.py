# Generated from schemas/messages/AlterPartitionRequest.json (sha256 43a30a9116ff1b72)
# Generated from schemas/messages/AlterPartitionResponse.json (sha256 f85165db52895980)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AlterPartition (API key 56)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
    unknown_version,
)
from fencepost_protocol.fields import MADE_ANEW, Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    ZERO_UUID,
    TaggedFields,
    long_length,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_int32_array,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_biB = struct.Struct(">biB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_ihiiB = struct.Struct(">ihiiB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_unpack_iqB = struct.Struct(">iqB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_bi = struct.Struct(">bi").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ihii = struct.Struct(">ihii").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iq = struct.Struct(">iq").pack
new = object.__new__


class BrokerState(Fields):
    """Wanted in-sync set with the epoch of each broker (KIP-903)."""

    __slots__ = ("broker_id", "broker_epoch", "unknown_tagged_fields")

    broker_id: int
    """Versions 3. Broker to be in sync; fenced or shutting down gives INELIGIBLE_REPLICA."""
    broker_epoch: int
    """Versions 3. Epoch seen in that broker's fetches, INELIGIBLE_REPLICA if it has registered anew
    since; -1 skips the check.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterPartitionRequestPartitionData(Fields):
    """One change for each partition."""

    __slots__ = (
        "partition_index",
        "leader_epoch",
        "new_isr",
        "new_isr_with_epochs",
        "leader_recovery_state",
        "partition_epoch",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Partition number within the topic, counted from 0."""
    leader_epoch: int
    """Leader epoch of the sender; an old one gives FENCED_LEADER_EPOCH."""
    new_isr: list[int]
    """Versions 2. Brokers of the wanted in-sync set; from version 3 NewIsrWithEpochs stands in its
    place.
    """
    new_isr_with_epochs: list[BrokerState]
    """Versions 3. Wanted in-sync set with the epoch of each broker (KIP-903)."""
    leader_recovery_state: int
    """State of the leader: 0 normal, 1 recovering after an unclean election (KIP-704)."""
    partition_epoch: int
    """Partition epoch the change builds on; an old one gives INVALID_UPDATE_VERSION."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: list[int] = MADE_ANEW,
        new_isr_with_epochs: list[BrokerState] = MADE_ANEW,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr = [] if new_isr is MADE_ANEW else new_isr
        self.new_isr_with_epochs = [] if new_isr_with_epochs is MADE_ANEW else new_isr_with_epochs
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterPartitionRequestTopicData(Fields):
    """Partitions to change, by topic."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic; unknown gives UNKNOWN_TOPIC_ID."""
    partitions: list[AlterPartitionRequestPartitionData]
    """One change for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AlterPartitionRequestPartitionData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterPartitionRequest(Fields):
    """A partition leader asks the active controller to record a changed in-sync set (KIP-497).
    Between servers only.
    """

    NAME: ClassVar[str] = "AlterPartitionRequest"
    API_KEY: ClassVar[int] = 56
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("broker_id", "broker_epoch", "topics", "unknown_tagged_fields")

    broker_id: int
    """Node id of the asking broker, the leader of the partitions."""
    broker_epoch: int
    """Epoch from that broker's registration; an old one gives STALE_BROKER_EPOCH, as does -1."""
    topics: list[AlterPartitionRequestTopicData]
    """Partitions to change, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[AlterPartitionRequestTopicData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 2 <= version <= 3:
                raise unknown_version("AlterPartitionRequest", version, 2, 3)
            out += _pack_iq(self.broker_id, self.broker_epoch)
            n = len(self.topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for topic in self.topics:
                out += _pack_U(uuid_bytes(topic.topic_id))
                n = len(topic.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for partition in topic.partitions:
                    out += _pack_ii(partition.partition_index, partition.leader_epoch)
                    if version <= 2:
                        n = len(partition.new_isr) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, partition.new_isr)
                    elif partition.new_isr:
                        raise not_in_version("topics.partitions.new_isr", "2")
                    if version >= 3:
                        n = len(partition.new_isr_with_epochs) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for new_isr_with_epoch in partition.new_isr_with_epochs:
                            out += _pack_iq(
                                new_isr_with_epoch.broker_id,
                                new_isr_with_epoch.broker_epoch,
                            )
                            if new_isr_with_epoch.unknown_tagged_fields:
                                write_tagged_fields(out, [], new_isr_with_epoch.unknown_tagged_fields)
                            else:
                                out.append(0)
                    elif partition.new_isr_with_epochs:
                        raise not_in_version("topics.partitions.new_isr_with_epochs", "3")
                    out += _pack_bi(partition.leader_recovery_state, partition.partition_epoch)
                    if partition.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.unknown_tagged_fields)
                    else:
                        out.append(0)
                if topic.unknown_tagged_fields:
                    write_tagged_fields(out, [], topic.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AlterPartitionRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterPartitionRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 2 <= version <= 3:
                raise unknown_version("AlterPartitionRequest", version, 2, 3)
            size = len(buf)
            m = new(AlterPartitionRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.broker_id, m.broker_epoch, n = _unpack_iqB(buf, pos)
            pos += 13
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics = topic_list = []
            topic_left = n - 1
            while topic_left:
                topic_left -= 1
                topic = new(AlterPartitionRequestTopicData)
                topic_list.append(topic)
                topic.topic_id, n = _unpack_UB(buf, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                topic.partitions = partition_list = []
                partition_left = n - 1
                while partition_left:
                    partition_left -= 1
                    partition = new(AlterPartitionRequestPartitionData)
                    partition_list.append(partition)
                    partition.partition_index, partition.leader_epoch = _unpack_ii(buf, pos)
                    pos += 8
                    if version <= 2:
                        n = buf[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(buf, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition.new_isr, pos = read_int32_array(buf, pos, n - 1)
                    else:
                        partition.new_isr = []
                    if version >= 3:
                        n = buf[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(buf, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition.new_isr_with_epochs = new_isr_with_epoch_list = []
                        new_isr_with_epoch_left = n - 1
                        while new_isr_with_epoch_left:
                            new_isr_with_epoch_left -= 1
                            new_isr_with_epoch = new(BrokerState)
                            new_isr_with_epoch_list.append(new_isr_with_epoch)
                            (
                                new_isr_with_epoch.broker_id,
                                new_isr_with_epoch.broker_epoch,
                                n,
                            ) = _unpack_iqB(buf, pos)
                            pos += 13
                            if n:
                                new_isr_with_epoch.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                            else:
                                new_isr_with_epoch.unknown_tagged_fields = ()
                    else:
                        partition.new_isr_with_epochs = []
                    (
                        partition.leader_recovery_state,
                        partition.partition_epoch,
                        n,
                    ) = _unpack_biB(buf, pos)
                    pos += 6
                    if n:
                        partition.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                    else:
                        partition.unknown_tagged_fields = ()
                n = buf[pos]
                pos += 1
                if n:
                    topic.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    topic.unknown_tagged_fields = ()
            n = buf[pos]
            pos += 1
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AlterPartitionRequest", version, buf, start, cause) from cause


class AlterPartitionResponsePartitionData(Fields):
    """One outcome for each partition."""

    __slots__ = (
        "partition_index",
        "error_code",
        "leader_id",
        "leader_epoch",
        "isr",
        "leader_recovery_state",
        "partition_epoch",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, or e.g. FENCED_LEADER_EPOCH, INVALID_UPDATE_VERSION, INELIGIBLE_REPLICA,
    NEW_LEADER_ELECTED, UNKNOWN_TOPIC_ID.
    """
    leader_id: int
    """Broker that leads the partition now."""
    leader_epoch: int
    """Epoch of that leadership."""
    isr: list[int]
    """In-sync set now in force, broker ids."""
    leader_recovery_state: int
    """State of the leader: 0 normal, 1 recovering after an unclean election (KIP-704)."""
    partition_epoch: int
    """New partition epoch, base for the next change; grows with each change."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = MADE_ANEW,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.isr = [] if isr is MADE_ANEW else isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterPartitionResponseTopicData(Fields):
    """Outcome grouped by topic."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic, repeated from the request."""
    partitions: list[AlterPartitionResponsePartitionData]
    """One outcome for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AlterPartitionResponsePartitionData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterPartitionResponse(Fields):
    """The controller's verdict on each change of an in-sync set, with the partition state now in
    force (KIP-497).
    """

    NAME: ClassVar[str] = "AlterPartitionResponse"
    API_KEY: ClassVar[int] = 56
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("throttle_time_ms", "error_code", "topics", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms for the sender to sit out; between servers normally 0."""
    error_code: int
    """NONE, or a fault of the whole request: STALE_BROKER_EPOCH, NOT_CONTROLLER,
    CLUSTER_AUTHORIZATION_FAILED.
    """
    topics: list[AlterPartitionResponseTopicData]
    """Outcome grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[AlterPartitionResponseTopicData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 2 <= version <= 3:
                raise unknown_version("AlterPartitionResponse", version, 2, 3)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            n = len(self.topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for topic in self.topics:
                out += _pack_U(uuid_bytes(topic.topic_id))
                n = len(topic.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for partition in topic.partitions:
                    out += _pack_ihii(
                        partition.partition_index,
                        partition.error_code,
                        partition.leader_id,
                        partition.leader_epoch,
                    )
                    n = len(partition.isr) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_int32_array(out, partition.isr)
                    out += _pack_bi(partition.leader_recovery_state, partition.partition_epoch)
                    if partition.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.unknown_tagged_fields)
                    else:
                        out.append(0)
                if topic.unknown_tagged_fields:
                    write_tagged_fields(out, [], topic.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AlterPartitionResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterPartitionResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 2 <= version <= 3:
                raise unknown_version("AlterPartitionResponse", version, 2, 3)
            size = len(buf)
            m = new(AlterPartitionResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(buf, pos)
            pos += 7
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics = topic_list = []
            topic_left = n - 1
            while topic_left:
                topic_left -= 1
                topic = new(AlterPartitionResponseTopicData)
                topic_list.append(topic)
                topic.topic_id, n = _unpack_UB(buf, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                topic.partitions = partition_list = []
                partition_left = n - 1
                while partition_left:
                    partition_left -= 1
                    partition = new(AlterPartitionResponsePartitionData)
                    partition_list.append(partition)
                    (
                        partition.partition_index,
                        partition.error_code,
                        partition.leader_id,
                        partition.leader_epoch,
                        n,
                    ) = _unpack_ihiiB(buf, pos)
                    pos += 15
                    if not n or n > 127:
                        n, pos = long_length(buf, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.isr, pos = read_int32_array(buf, pos, n - 1)
                    (
                        partition.leader_recovery_state,
                        partition.partition_epoch,
                        n,
                    ) = _unpack_biB(buf, pos)
                    pos += 6
                    if n:
                        partition.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                    else:
                        partition.unknown_tagged_fields = ()
                n = buf[pos]
                pos += 1
                if n:
                    topic.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    topic.unknown_tagged_fields = ()
            n = buf[pos]
            pos += 1
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AlterPartitionResponse", version, buf, start, cause) from cause


__all__ = [
    "BrokerState",
    "AlterPartitionRequestPartitionData",
    "AlterPartitionRequestTopicData",
    "AlterPartitionRequest",
    "AlterPartitionResponsePartitionData",
    "AlterPartitionResponseTopicData",
    "AlterPartitionResponse",
]
