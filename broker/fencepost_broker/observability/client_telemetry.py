"""Metrics that clients send to their brokers (KIP-714): who sends which, and what was sent last.

A subscription is a resource of type CLIENT_METRICS: which metrics, how often, of which clients. A
client asks what is subscribed, and then sends its metrics at that interval. It has to ask again
when the subscriptions have changed.

Behaviour: as in Apache Kafka, a client instance is forgotten when its connection is closed, and a
client that asks or sends before the interval is over gets THROTTLING_QUOTA_EXCEEDED.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from fencepost_protocol.crc import crc32c
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.compression import Compression, decompress

from fencepost_broker.config import SettingsError, SettingsOfClientMetrics
from fencepost_broker.config.tables.client_metrics import split_match
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.re2_patterns import Re2Patterns

if TYPE_CHECKING:
    from fencepost_broker.metadata.dynamic_config import DynamicConfig
    from fencepost_broker.metadata.image.metadata_image import MetadataImage
    from fencepost_broker.ports import Chance, Clock, RemoteClient

ALL_METRICS: Final = "*"
CODECS: Final = (Compression.ZSTD, Compression.LZ4, Compression.GZIP, Compression.SNAPPY)
"""Codecs that clients may use, the best first, as Apache Kafka tells them."""
INSTANCES_MAX: Final = 16_384
"""Client instances that are remembered; Apache Kafka remembers as many."""
KEPT_BYTES_MAX: Final = 16 << 20
"""The last metrics of clients, as they were sent, are kept up to this size altogether."""
_NEVER: Final = -1 << 62
RESERVED_IDS: Final = frozenset({bytes(16), bytes(15) + b"\1"})
"""Ids that no client has: those of Kafka's ``Uuid.ZERO_UUID`` and ``ONE_UUID``."""
_ASK_AGAIN: Final = frozenset(
    {ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE}
)
"""After these errors a client may ask for its subscription at once."""
_PATTERNS: Final = Re2Patterns()


class ClientProperties(NamedTuple):
    """The properties by which subscriptions select clients; the names are those of selectors."""

    client_instance_id: str
    client_id: str
    client_software_name: str
    client_software_version: str
    client_source_address: str
    client_source_port: str


class _Subscription(NamedTuple):
    """The settings of one CLIENT_METRICS resource."""

    metrics: tuple[str, ...]
    interval_ms: int
    match: Mapping[str, str]

    def covers(self, client: ClientProperties) -> bool:
        """Whether it asks this client for metrics."""
        return all(
            _PATTERNS.matching(expression, [getattr(client, selector)])
            for selector, expression in self.match.items()
        )


@dataclass(slots=True)
class Push:
    """Metrics as a client has sent them: ``MetricsData`` of OpenTelemetry, compressed."""

    codec: Compression
    data: bytes
    time_ms: int
    size_max: int
    """How large the metrics may be: ``telemetry.max.bytes`` limits both sizes."""

    def decompressed(self) -> bytes | bytearray:
        """Return the metrics; raises RemoteProtocolError, also if they are too large."""
        return decompress(self.codec, self.data, self.size_max)


@dataclass(slots=True)
class ClientInstance:
    """A client that has asked which metrics to send."""

    instance_id: bytes
    properties: ClientProperties
    connection: RemoteClient
    subscriptions: tuple[_Subscription, ...] = ()
    """All subscriptions of the cluster when the client's own were looked for."""
    subscription_id: int = 0
    metrics: list[str] = field(default_factory=list)
    interval_ms: int = 0
    asked_ms: int = _NEVER
    sent_ms: int = _NEVER
    is_terminating: bool = False
    last_error: ErrorCode = ErrorCode.NONE
    pushes: int = 0
    bytes: int = 0
    """The sum of all pushes, compressed."""
    last: Push | None = None
    """The last metrics, unless others needed the room."""


class ClientTelemetry:
    """The client instances of one broker."""

    def __init__(
        self, image: MetadataImage, config: DynamicConfig, clock: Clock, chance: Chance
    ) -> None:
        self._image = image
        self._config = config
        self._clock = clock
        self._chance = chance
        self._instances: OrderedDict[bytes, ClientInstance] = OrderedDict()
        self._kept: OrderedDict[bytes, int] = OrderedDict()
        """The size of the last metrics by instance, the oldest first."""
        self._kept_bytes = 0
        self._subscriptions: tuple[_Subscription, ...] = ()
        self._read_at = -1
        self.pushes = 0
        self.bytes = 0

    @property
    def instances(self) -> Iterator[ClientInstance]:
        """The clients that are known, those that were heard of last at the end."""
        return iter(self._instances.values())

    def new_id(self) -> bytes:
        """Return an id for a client that has none."""
        while True:
            made = self._chance.randbytes(16)
            if made not in self._instances and made not in RESERVED_IDS:
                return made

    def subscribe(
        self, instance_id: bytes, client: ClientProperties, connection: RemoteClient
    ) -> ClientInstance | ErrorCode:
        """Return a client's subscription, or why it gets none now."""
        instance = self._instance(instance_id, client, connection)
        now_ms = self._clock.now_ms()
        heard_ms = max(instance.asked_ms, instance.sent_ms)
        if now_ms - heard_ms < instance.interval_ms and instance.last_error not in _ASK_AGAIN:
            return self._refused(instance, ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        instance.asked_ms = now_ms
        instance.last_error = ErrorCode.NONE
        return instance

    def push(
        self,
        instance_id: bytes,
        client: ClientProperties,
        connection: RemoteClient,
        subscription_id: int,
        codec: int,
        data: memoryview | bytes,
        *,
        is_terminating: bool,
    ) -> ErrorCode:
        """Take a client's metrics, or return why they are refused."""
        if instance_id in RESERVED_IDS:
            return ErrorCode.INVALID_REQUEST
        instance = self._instance(instance_id, client, connection)
        now_ms = self._clock.now_ms()
        if instance.is_terminating:
            return self._refused(instance, ErrorCode.INVALID_REQUEST)
        is_early = (
            instance.asked_ms <= instance.sent_ms
            and now_ms - instance.sent_ms < instance.interval_ms
        )
        if is_early and not is_terminating:
            return self._refused(instance, ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        instance.sent_ms = now_ms
        if subscription_id != instance.subscription_id:
            return self._refused(instance, ErrorCode.UNKNOWN_SUBSCRIPTION_ID)
        if codec != Compression.NONE and codec not in CODECS:
            return self._refused(instance, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        size_max = self._config.settings.telemetry_max_bytes
        if len(data) > size_max:
            return self._refused(instance, ErrorCode.TELEMETRY_TOO_LARGE)
        push = Push(Compression(codec), bytes(data), now_ms, size_max)
        try:
            if data:
                push.decompressed()
        except RemoteProtocolError:
            return self._refused(instance, ErrorCode.INVALID_RECORD)
        instance.is_terminating = is_terminating
        instance.last_error = ErrorCode.NONE
        self._keep(instance, push)
        return ErrorCode.NONE

    def _refused(self, instance: ClientInstance, error: ErrorCode) -> ErrorCode:
        instance.last_error = error
        return error

    def _instance(
        self, instance_id: bytes, client: ClientProperties, connection: RemoteClient
    ) -> ClientInstance:
        """Return a client, with the subscriptions that are in force now."""
        subscriptions = self._in_force()
        instance = self._instances.get(instance_id)
        if instance is not None and not instance.connection.is_connected:
            self._forget(instance_id)
            instance = None
        if instance is None:
            if len(self._instances) >= INSTANCES_MAX:
                self._forget(next(iter(self._instances)))
            instance = self._instances[instance_id] = ClientInstance(
                instance_id, client, connection
            )
            self._look_up(instance, subscriptions)
        elif instance.subscriptions is not subscriptions:
            self._look_up(instance, subscriptions)
        self._instances.move_to_end(instance_id)
        return instance

    def _look_up(self, instance: ClientInstance, subscriptions: tuple[_Subscription, ...]) -> None:
        own = [each for each in subscriptions if each.covers(instance.properties)]
        metrics = sorted({name for each in own for name in each.metrics})
        default = SettingsOfClientMetrics.interval_ms.default
        instance.subscriptions = subscriptions
        instance.metrics = [ALL_METRICS] if ALL_METRICS in metrics else metrics
        instance.interval_ms = min([default, *(each.interval_ms for each in own)])
        told = repr((instance.metrics, instance.interval_ms)).encode() + instance.instance_id
        instance.subscription_id = crc32c(told) - (1 << 31)
        instance.asked_ms = instance.sent_ms = _NEVER

    def _in_force(self) -> tuple[_Subscription, ...]:
        """Return the subscriptions of the metadata: the same object while they are the same."""
        if self._read_at != self._image.last_offset:
            self._read_at = self._image.last_offset
            resources = self._image.configs.by_resource.items()
            found = tuple(
                self._subscription(given)
                for (kind, _), given in resources
                if kind == ResourceType.CLIENT_METRICS
            )
            if found != self._subscriptions:
                self._subscriptions = found
        return self._subscriptions

    def _subscription(self, given: Mapping[str, str]) -> _Subscription:
        try:
            settings = self._config.settings.client_metrics(given)
        except SettingsError:  # a Kafka broker with different rules has written it
            settings = SettingsOfClientMetrics()
        match = dict(map(split_match, settings.match))
        return _Subscription(settings.metrics, settings.interval_ms, match)

    def _keep(self, instance: ClientInstance, push: Push) -> None:
        size = len(push.data)
        self.pushes += 1
        self.bytes += size
        instance.pushes += 1
        instance.bytes += size
        self._drop_last(instance.instance_id)
        instance.last = push
        self._kept[instance.instance_id] = size
        self._kept_bytes += size
        while self._kept_bytes > KEPT_BYTES_MAX:
            oldest = next(iter(self._kept))
            self._drop_last(oldest)
            self._instances[oldest].last = None

    def _drop_last(self, instance_id: bytes) -> None:
        self._kept_bytes -= self._kept.pop(instance_id, 0)

    def _forget(self, instance_id: bytes) -> None:
        self._drop_last(instance_id)
        del self._instances[instance_id]
