# Generated from schemas/messages/MetadataRequest.json (sha256 208afcd9b3d2e3f4)
# Generated from schemas/messages/MetadataResponse.json (sha256 1bb01244de6cde44)
# by python -m fencepost_protocol.codegen. Do not edit.
"""Metadata (API key 3)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
    not_nullable,
    unknown_version,
)
from fencepost_protocol.fields import MADE_ANEW, Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    NULL_REFUSED,
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    negative_length,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_U = struct.Struct(">16s").unpack_from
_unpack_tt = struct.Struct(">??").unpack_from
_unpack_tB = struct.Struct(">?B").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_hii = struct.Struct(">hii").unpack_from
_unpack_hiiiB = struct.Struct(">hiiiB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_t = struct.Struct(">?").pack
_pack_tt = struct.Struct(">??").pack
_pack_h = struct.Struct(">h").pack
_pack_hii = struct.Struct(">hii").pack
_pack_hiii = struct.Struct(">hiii").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class MetadataRequestTopic(Fields):
    """Topics asked for; null means all, an empty list none (in version 0 it means all)."""

    __slots__ = ("topic_id", "name", "unknown_tagged_fields")

    topic_id: bytes
    """Versions 10-13. Topic by UUID, honoured from version 12; all zero means by Name."""
    name: str | None
    """Topic by name; null when TopicId is used."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        name: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.unknown_tagged_fields = unknown_tagged_fields


class MetadataRequest(Fields):
    """Any client asks any broker for the brokers of the cluster and the leaders of some or all
    topics; usually the first request after ApiVersions and the cure for stale leaders.
    """

    NAME: ClassVar[str] = "MetadataRequest"
    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    __slots__ = (
        "topics",
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
        "unknown_tagged_fields",
    )

    topics: list[MetadataRequestTopic] | None
    """Topics asked for; null means all, an empty list none (in version 0 it means all)."""
    allow_auto_topic_creation: bool
    """Versions 4-13. Whether an unknown topic may be created, provided auto.create.topics.enable
    agrees; before version 4 always so.
    """
    include_cluster_authorized_operations: bool
    """Versions 8-10. True asks for ClusterAuthorizedOperations to be filled (KIP-430)."""
    include_topic_authorized_operations: bool
    """Versions 8-13. Asks for TopicAuthorizedOperations of every topic (KIP-430)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[MetadataRequestTopic] | None = MADE_ANEW,
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topics = [] if topics is MADE_ANEW else topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 13:
                raise unknown_version("MetadataRequest", version, 0, 13)
            if version >= 9:
                if self.topics is None:
                    out.append(0)
                else:
                    n = len(self.topics) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for topic in self.topics:
                        if version >= 10:
                            out += _pack_U(uuid_bytes(topic.topic_id))
                        if topic.name is None:
                            if not (version >= 10):
                                raise not_nullable("topics.name")
                            out.append(0)
                        else:
                            raw = topic.name.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                        if topic.unknown_tagged_fields:
                            write_tagged_fields(out, [], topic.unknown_tagged_fields)
                        else:
                            out.append(0)
                out += _pack_t(self.allow_auto_topic_creation)
                if version <= 10:
                    out += _pack_t(self.include_cluster_authorized_operations)
                elif self.include_cluster_authorized_operations:
                    raise not_in_version("include_cluster_authorized_operations", "8-10")
                out += _pack_t(self.include_topic_authorized_operations)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.topics is None:
                    if not (version >= 1):
                        raise not_nullable("topics")
                    out += _pack_i(-1)
                else:
                    out += _pack_i(len(self.topics))
                    for topic in self.topics:
                        if topic.name is None:
                            raise not_nullable("topics.name")
                        else:
                            raw = topic.name.encode()
                            out += _pack_h(len(raw))
                            out += raw
                if version >= 4:
                    out += _pack_t(self.allow_auto_topic_creation)
                elif not self.allow_auto_topic_creation:
                    raise not_in_version("allow_auto_topic_creation", "4-13")
                if version >= 8:
                    out += _pack_tt(
                        self.include_cluster_authorized_operations,
                        self.include_topic_authorized_operations,
                    )
                else:
                    if self.include_cluster_authorized_operations:
                        raise not_in_version("include_cluster_authorized_operations", "8-10")
                    if self.include_topic_authorized_operations:
                        raise not_in_version("include_topic_authorized_operations", "8-13")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("MetadataRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[MetadataRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 13:
                raise unknown_version("MetadataRequest", version, 0, 13)
            size = len(buf)
            data = buf.tobytes()
            m = new(MetadataRequest)
            if version >= 9:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                if not n:
                    m.topics = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.topics = topic_list = []
                    topic_left = n - 1
                    while topic_left:
                        topic_left -= 1
                        topic = new(MetadataRequestTopic)
                        topic_list.append(topic)
                        if version >= 10:
                            topic.topic_id = _unpack_U(data, pos)[0]
                            pos += 16
                        else:
                            topic.topic_id = ZERO_UUID
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            if not (version >= 10):
                                raise ValueError(NULL_REFUSED)
                            topic.name = None
                        else:
                            end = pos + n - 1
                            topic.name = data[pos:end].decode()
                            pos = end
                        n = data[pos]
                        pos += 1
                        if n:
                            topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            topic.unknown_tagged_fields = ()
                m.allow_auto_topic_creation = data[pos] != 0
                pos += 1
                if version <= 10:
                    m.include_cluster_authorized_operations = data[pos] != 0
                    pos += 1
                else:
                    m.include_cluster_authorized_operations = False
                m.include_topic_authorized_operations, n = _unpack_tB(data, pos)
                pos += 2
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    if not (version >= 1):
                        raise ValueError(NULL_REFUSED)
                    m.topics = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.topics = topic_list = []
                    topic_left = n
                    while topic_left:
                        topic_left -= 1
                        topic = new(MetadataRequestTopic)
                        topic_list.append(topic)
                        topic.topic_id = ZERO_UUID
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        topic.name = data[pos:end].decode()
                        pos = end
                        topic.unknown_tagged_fields = ()
                if version >= 4:
                    m.allow_auto_topic_creation = data[pos] != 0
                    pos += 1
                else:
                    m.allow_auto_topic_creation = True
                if version >= 8:
                    (
                        m.include_cluster_authorized_operations,
                        m.include_topic_authorized_operations,
                    ) = _unpack_tt(data, pos)
                    pos += 2
                else:
                    m.include_cluster_authorized_operations = False
                    m.include_topic_authorized_operations = False
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("MetadataRequest", version, buf, start, cause) from cause


class MetadataResponseBroker(Fields):
    """Live brokers, with their addresses on the listener the request came in by."""

    __slots__ = ("node_id", "host", "port", "rack", "unknown_tagged_fields")

    node_id: int
    """Broker id that leader and replica lists refer to."""
    host: str
    """Advertised host name or address to connect to."""
    port: int
    """Advertised TCP port to connect to."""
    rack: str | None
    """Versions 1-13. Value of broker.rack; null when not configured."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tagged_fields = unknown_tagged_fields


class MetadataResponsePartition(Fields):
    """All partitions of the topic, in no promised order."""

    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "offline_replicas",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or LEADER_NOT_AVAILABLE or LISTENER_NOT_FOUND when no leader can be reached."""
    partition_index: int
    """Partition number within the topic, counted from 0."""
    leader_id: int
    """Broker to produce to and fetch from; -1 while there is no leader."""
    leader_epoch: int
    """Versions 7-13. Grows with every change of leader, lets clients drop stale answers (KIP-320);
    -1 when unknown.
    """
    replica_nodes: list[int]
    """Broker ids that hold a copy, the preferred leader first."""
    isr_nodes: list[int]
    """Broker ids of the copies that are in sync."""
    offline_replicas: list[int]
    """Versions 5-13. Broker ids whose copy is out of reach, because the broker is down or its disk
    failed (KIP-112).
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = MADE_ANEW,
        isr_nodes: list[int] = MADE_ANEW,
        offline_replicas: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is MADE_ANEW else replica_nodes
        self.isr_nodes = [] if isr_nodes is MADE_ANEW else isr_nodes
        self.offline_replicas = [] if offline_replicas is MADE_ANEW else offline_replicas
        self.unknown_tagged_fields = unknown_tagged_fields


class MetadataResponseTopic(Fields):
    """Topics asked for, each with its own error."""

    __slots__ = (
        "error_code",
        "name",
        "topic_id",
        "is_internal",
        "partitions",
        "topic_authorized_operations",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or why it has no details: UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID,
    INVALID_TOPIC_EXCEPTION, TOPIC_AUTHORIZATION_FAILED, LEADER_NOT_AVAILABLE.
    """
    name: str | None
    """Topic described; null from version 12 if it was asked for by an unknown id."""
    topic_id: bytes
    """Versions 10-13. UUID the topic was created with, new if deleted and created again; all zero
    when unknown.
    """
    is_internal: bool
    """Versions 1-13. True for topics of the brokers themselves, such as __consumer_offsets and
    __transaction_state.
    """
    partitions: list[MetadataResponsePartition]
    """All partitions of the topic, in no promised order."""
    topic_authorized_operations: int
    """Versions 8-13. Bit field of what the caller may do, bit number = ACL operation code;
    -2147483648 when not asked for.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[MetadataResponsePartition] = MADE_ANEW,
        topic_authorized_operations: int = -2147483648,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.topic_authorized_operations = topic_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields


class MetadataResponse(Fields):
    """The broker's view of the cluster: live brokers, and for each topic its partitions with
    leader, replicas and in-sync set.
    """

    NAME: ClassVar[str] = "MetadataResponse"
    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    __slots__ = (
        "throttle_time_ms",
        "brokers",
        "cluster_id",
        "controller_id",
        "topics",
        "cluster_authorized_operations",
        "error_code",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Versions 3-13. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    brokers: list[MetadataResponseBroker]
    """Live brokers, with their addresses on the listener the request came in by."""
    cluster_id: str | None
    """Versions 2-13. Identity of the cluster (KIP-78); null when unknown."""
    controller_id: int
    """Versions 1-13. Broker to send administrative requests to; under KRaft any live one, as
    brokers forward them; -1 when none.
    """
    topics: list[MetadataResponseTopic]
    """Topics asked for, each with its own error."""
    cluster_authorized_operations: int
    """Versions 8-10. Same kind of bit field for the cluster itself; -2147483648 when not asked for.
    """
    error_code: int
    """Versions 13. NONE, or REBOOTSTRAP_REQUIRED: forget all brokers and begin at the bootstrap
    servers (KIP-1102).
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        brokers: list[MetadataResponseBroker] = MADE_ANEW,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: list[MetadataResponseTopic] = MADE_ANEW,
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers = [] if brokers is MADE_ANEW else brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 13:
                raise unknown_version("MetadataResponse", version, 0, 13)
            if version >= 9:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.brokers) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for broker in self.brokers:
                    raw = broker.host.encode()
                    out += _pack_i(broker.node_id)
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_i(broker.port)
                    if broker.rack is None:
                        out.append(0)
                    else:
                        raw = broker.rack.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if broker.unknown_tagged_fields:
                        write_tagged_fields(out, [], broker.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.cluster_id is None:
                    out.append(0)
                else:
                    raw = self.cluster_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                out += _pack_i(self.controller_id)
                n = len(self.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in self.topics:
                    out += _pack_h(topic.error_code)
                    if topic.name is None:
                        if not (version >= 12):
                            raise not_nullable("topics.name")
                        out.append(0)
                    else:
                        raw = topic.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 10:
                        out += _pack_U(uuid_bytes(topic.topic_id))
                    out += _pack_t(topic.is_internal)
                    n = len(topic.partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition in topic.partitions:
                        out += _pack_hiii(
                            partition.error_code,
                            partition.partition_index,
                            partition.leader_id,
                            partition.leader_epoch,
                        )
                        n = len(partition.replica_nodes) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, partition.replica_nodes)
                        n = len(partition.isr_nodes) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, partition.isr_nodes)
                        n = len(partition.offline_replicas) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, partition.offline_replicas)
                        if partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                    out += _pack_i(topic.topic_authorized_operations)
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic.unknown_tagged_fields)
                    else:
                        out.append(0)
                if version <= 10:
                    out += _pack_i(self.cluster_authorized_operations)
                elif self.cluster_authorized_operations != -2147483648:
                    raise not_in_version("cluster_authorized_operations", "8-10")
                if version >= 13:
                    out += _pack_h(self.error_code)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if version >= 3:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_i(len(self.brokers))
                for broker in self.brokers:
                    raw = broker.host.encode()
                    out += _pack_ih(broker.node_id, len(raw))
                    out += raw
                    out += _pack_i(broker.port)
                    if version >= 1:
                        if broker.rack is None:
                            out += _pack_h(-1)
                        else:
                            raw = broker.rack.encode()
                            out += _pack_h(len(raw))
                            out += raw
                if version >= 2:
                    if self.cluster_id is None:
                        out += _pack_h(-1)
                    else:
                        raw = self.cluster_id.encode()
                        out += _pack_h(len(raw))
                        out += raw
                if version >= 1:
                    out += _pack_i(self.controller_id)
                out += _pack_i(len(self.topics))
                for topic in self.topics:
                    out += _pack_h(topic.error_code)
                    if topic.name is None:
                        raise not_nullable("topics.name")
                    else:
                        raw = topic.name.encode()
                        out += _pack_h(len(raw))
                        out += raw
                    if version >= 1:
                        out += _pack_t(topic.is_internal)
                    out += _pack_i(len(topic.partitions))
                    for partition in topic.partitions:
                        out += _pack_hii(
                            partition.error_code,
                            partition.partition_index,
                            partition.leader_id,
                        )
                        if version >= 7:
                            out += _pack_i(partition.leader_epoch)
                        out += _pack_i(len(partition.replica_nodes))
                        write_int32_array(out, partition.replica_nodes)
                        out += _pack_i(len(partition.isr_nodes))
                        write_int32_array(out, partition.isr_nodes)
                        if version >= 5:
                            out += _pack_i(len(partition.offline_replicas))
                            write_int32_array(out, partition.offline_replicas)
                    if version >= 8:
                        out += _pack_i(topic.topic_authorized_operations)
                    elif topic.topic_authorized_operations != -2147483648:
                        raise not_in_version("topics.topic_authorized_operations", "8-13")
                if version >= 8:
                    out += _pack_i(self.cluster_authorized_operations)
                elif self.cluster_authorized_operations != -2147483648:
                    raise not_in_version("cluster_authorized_operations", "8-10")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("MetadataResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[MetadataResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 13:
                raise unknown_version("MetadataResponse", version, 0, 13)
            size = len(buf)
            data = buf.tobytes()
            m = new(MetadataResponse)
            if version >= 9:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.brokers = broker_list = []
                broker_left = n - 1
                while broker_left:
                    broker_left -= 1
                    broker = new(MetadataResponseBroker)
                    broker_list.append(broker)
                    broker.node_id, n = _unpack_iB(data, pos)
                    pos += 5
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    broker.host = data[pos:end].decode()
                    pos = end
                    broker.port, n = _unpack_iB(data, pos)
                    pos += 5
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        broker.rack = None
                    else:
                        end = pos + n - 1
                        broker.rack = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if n:
                        broker.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        broker.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.cluster_id = None
                else:
                    end = pos + n - 1
                    m.cluster_id = data[pos:end].decode()
                    pos = end
                m.controller_id, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(MetadataResponseTopic)
                    topic_list.append(topic)
                    topic.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        if not (version >= 12):
                            raise ValueError(NULL_REFUSED)
                        topic.name = None
                    else:
                        end = pos + n - 1
                        topic.name = data[pos:end].decode()
                        pos = end
                    if version >= 10:
                        topic.topic_id = _unpack_U(data, pos)[0]
                        pos += 16
                    else:
                        topic.topic_id = ZERO_UUID
                    topic.is_internal, n = _unpack_tB(data, pos)
                    pos += 2
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.partitions = partition_list = []
                    partition_left = n - 1
                    while partition_left:
                        partition_left -= 1
                        partition = new(MetadataResponsePartition)
                        partition_list.append(partition)
                        (
                            partition.error_code,
                            partition.partition_index,
                            partition.leader_id,
                            partition.leader_epoch,
                            n,
                        ) = _unpack_hiiiB(data, pos)
                        pos += 15
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition.replica_nodes, pos = read_int32_array(data, pos, n - 1)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition.isr_nodes, pos = read_int32_array(data, pos, n - 1)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition.offline_replicas, pos = read_int32_array(data, pos, n - 1)
                        n = data[pos]
                        pos += 1
                        if n:
                            partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            partition.unknown_tagged_fields = ()
                    topic.topic_authorized_operations, n = _unpack_iB(data, pos)
                    pos += 5
                    if n:
                        topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        topic.unknown_tagged_fields = ()
                if version <= 10:
                    m.cluster_authorized_operations = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.cluster_authorized_operations = -2147483648
                if version >= 13:
                    m.error_code = _unpack_h(data, pos)[0]
                    pos += 2
                else:
                    m.error_code = 0
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.error_code = 0
                if version >= 3:
                    m.throttle_time_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.brokers = broker_list = []
                broker_left = n
                while broker_left:
                    broker_left -= 1
                    broker = new(MetadataResponseBroker)
                    broker_list.append(broker)
                    broker.node_id, n = _unpack_ih(data, pos)
                    pos += 6
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    broker.host = data[pos:end].decode()
                    pos = end
                    broker.port = _unpack_i(data, pos)[0]
                    pos += 4
                    if version >= 1:
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            broker.rack = None
                        else:
                            end = pos + n
                            broker.rack = data[pos:end].decode()
                            pos = end
                    else:
                        broker.rack = None
                    broker.unknown_tagged_fields = ()
                if version >= 2:
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        m.cluster_id = None
                    else:
                        end = pos + n
                        m.cluster_id = data[pos:end].decode()
                        pos = end
                else:
                    m.cluster_id = None
                if version >= 1:
                    m.controller_id = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.controller_id = -1
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n
                while topic_left:
                    topic_left -= 1
                    topic = new(MetadataResponseTopic)
                    topic_list.append(topic)
                    topic.topic_id = ZERO_UUID
                    topic.error_code, n = _unpack_hh(data, pos)
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    topic.name = data[pos:end].decode()
                    pos = end
                    if version >= 1:
                        topic.is_internal = data[pos] != 0
                        pos += 1
                    else:
                        topic.is_internal = False
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.partitions = partition_list = []
                    partition_left = n
                    while partition_left:
                        partition_left -= 1
                        partition = new(MetadataResponsePartition)
                        partition_list.append(partition)
                        (
                            partition.error_code,
                            partition.partition_index,
                            partition.leader_id,
                        ) = _unpack_hii(data, pos)
                        pos += 10
                        if version >= 7:
                            partition.leader_epoch = _unpack_i(data, pos)[0]
                            pos += 4
                        else:
                            partition.leader_epoch = -1
                        n = _unpack_i(data, pos)[0]
                        pos += 4
                        if n < 0:
                            raise negative_length(n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition.replica_nodes, pos = read_int32_array(data, pos, n)
                        n = _unpack_i(data, pos)[0]
                        pos += 4
                        if n < 0:
                            raise negative_length(n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition.isr_nodes, pos = read_int32_array(data, pos, n)
                        if version >= 5:
                            n = _unpack_i(data, pos)[0]
                            pos += 4
                            if n < 0:
                                raise negative_length(n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            partition.offline_replicas, pos = read_int32_array(data, pos, n)
                        else:
                            partition.offline_replicas = []
                        partition.unknown_tagged_fields = ()
                    if version >= 8:
                        topic.topic_authorized_operations = _unpack_i(data, pos)[0]
                        pos += 4
                    else:
                        topic.topic_authorized_operations = -2147483648
                    topic.unknown_tagged_fields = ()
                if version >= 8:
                    m.cluster_authorized_operations = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.cluster_authorized_operations = -2147483648
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("MetadataResponse", version, buf, start, cause) from cause


__all__ = [
    "MetadataRequestTopic",
    "MetadataRequest",
    "MetadataResponseBroker",
    "MetadataResponsePartition",
    "MetadataResponseTopic",
    "MetadataResponse",
]
