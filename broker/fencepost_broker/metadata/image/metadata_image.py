"""The metadata image: what the records of the metadata log say, taken together.

``MetadataImage.apply`` is the only mutation. It returns what changed, one entry for each thing, so
that a broker can open and close its logs without comparing images:

    for change in image.apply(record, offset): ...

Tuples that are handed out stay as they are; ``Topic`` and the dictionaries are live.

Between a BeginTransactionRecord and its EndTransactionRecord records are held back: they are
applied together at the end, or dropped at an AbortTransactionRecord (KIP-868).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.apis import Message

from fencepost_broker.metadata.image.acls import AclsImage
from fencepost_broker.metadata.image.changes import Change, Changes
from fencepost_broker.metadata.image.client_quotas import ClientQuotasImage
from fencepost_broker.metadata.image.cluster import ClusterImage
from fencepost_broker.metadata.image.configurations import ConfigurationsImage
from fencepost_broker.metadata.image.delegation_tokens import DelegationTokensImage
from fencepost_broker.metadata.image.features import FeaturesImage
from fencepost_broker.metadata.image.model import InconsistentMetadataError
from fencepost_broker.metadata.image.producer_ids import ProducerIdsImage
from fencepost_broker.metadata.image.scram import ScramImage
from fencepost_broker.metadata.image.topics import TopicsImage

if TYPE_CHECKING:
    from fencepost_protocol.generated.remove_topic_record import RemoveTopicRecord

NO_OFFSET: Final = -1


class MetadataImage:
    """The state of the cluster as of ``last_offset``."""

    def __init__(self) -> None:
        self.last_offset = NO_OFFSET
        """Offset of the last applied record (or control record)."""
        self.topics = TopicsImage()
        self.cluster = ClusterImage()
        self.configs = ConfigurationsImage()
        self.features = FeaturesImage()
        self.producer_ids = ProducerIdsImage()
        self.client_quotas = ClientQuotasImage()
        self.scram = ScramImage()
        self.delegation_tokens = DelegationTokensImage()
        self.acls = AclsImage()
        self._held_back: list[Message] | None = None

    @property
    def next_offset(self) -> int:
        """Where the next record will be written."""
        return self.last_offset + 1

    @property
    def is_empty(self) -> bool:
        """Whether no record has said anything yet: a log without even a feature level."""
        return not self.features.levels and not self.cluster.brokers and not self.topics.by_name

    @property
    def in_transaction(self) -> bool:
        """Whether records are held back until a transaction's end."""
        return self._held_back is not None

    def skip(self, offset: int) -> None:
        """Note a record that says nothing about the cluster: a control record of the log."""
        self.last_offset = offset

    def apply(self, record: Message, offset: int) -> Changes:
        """Apply the record at this offset; return what is different now.

        Raises ``InconsistentMetadataError`` for one that cannot follow; the image is then as it
        was, unless the record ended a transaction.
        """
        if offset <= self.last_offset:
            raise InconsistentMetadataError(
                f"{record.NAME} at offset {offset} comes after offset {self.last_offset}"
            )
        try:
            changes = self._apply(record)
        except InconsistentMetadataError as error:
            raise InconsistentMetadataError(f"{record.NAME} at offset {offset}: {error}") from None
        self.last_offset = offset
        return changes

    def _apply(self, record: Message) -> Changes:
        route = _ROUTES.get(record.NAME)
        if route is None:
            raise InconsistentMetadataError("this is not a known record of the metadata log")
        if self._held_back is None or record.NAME in _TRANSACTION_ENDS:
            return route(self, record)
        if record.NAME == "BeginTransactionRecord":
            raise InconsistentMetadataError("the transaction before it has no end")
        self._held_back.append(record)
        return ()

    def _remove_topic(self, record: RemoveTopicRecord) -> Changes:
        deleted = self.topics.remove_topic(record)
        self.configs.remove_topic(deleted.name)
        return (deleted,)

    def _begin_transaction(self) -> Changes:
        self._held_back = []
        return ()

    def _end_transaction(self) -> Changes:
        changes: list[Change] = []
        for record in self._release():
            changes += _ROUTES[record.NAME](self, record)
        return tuple(changes)

    def _abort_transaction(self) -> Changes:
        self._release()
        return ()

    def _release(self) -> list[Message]:
        records = self._held_back
        if records is None:
            raise InconsistentMetadataError("no transaction was begun")
        self._held_back = None
        return records

    # -- comparing ------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same state; at which offset does not matter."""
        if not isinstance(other, MetadataImage):
            return NotImplemented
        return self._state() == other._state()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def _state(self) -> tuple[Any, ...]:
        return (
            self.topics.by_name,
            self.cluster.brokers,
            self.cluster.controllers,
            self.configs.by_resource,
            self.features.levels,
            self.producer_ids.latest,
            self.client_quotas.records,
            self.scram.credentials,
            self.delegation_tokens.by_id,
            self.acls.by_id,
            self._held_back,
        )

    def differences(self, later: MetadataImage) -> Iterator[Change]:
        """Yield what leads to a later image, as records would have told it."""
        yield from self.topics.deletions(later.topics)
        yield from self.configs.differences(later.configs)  # new topics begin with their settings
        yield from self.topics.additions(later.topics)
        yield from self.cluster.differences(later.cluster)
        yield from self.features.differences(later.features)
        yield from self.producer_ids.differences(later.producer_ids)
        yield from self.client_quotas.differences(later.client_quotas)
        yield from self.scram.differences(later.scram)
        yield from self.delegation_tokens.differences(later.delegation_tokens)
        yield from self.acls.differences(later.acls)

    def become(self, later: MetadataImage) -> Changes:
        """Take over the state of a later image, which is given up; return what changed by that."""
        changes = tuple(self.differences(later))
        self.__dict__.update(later.__dict__)
        return changes


_TRANSACTION_ENDS: Final = frozenset({"EndTransactionRecord", "AbortTransactionRecord"})

_ROUTES: Final[dict[str, Callable[[MetadataImage, Any], Changes]]] = {
    "AbortTransactionRecord": lambda image, _: image._abort_transaction(),
    "AccessControlEntryRecord": lambda image, record: image.acls.add(record),
    "BeginTransactionRecord": lambda image, _: image._begin_transaction(),
    "BrokerRegistrationChangeRecord": lambda image, record: image.cluster.change_broker(record),
    "ClearElrRecord": lambda image, record: image.topics.clear_elr(record),
    "ClientQuotaRecord": lambda image, record: image.client_quotas.apply(record),
    "ConfigRecord": lambda image, record: image.configs.apply(record),
    "DelegationTokenRecord": lambda image, record: image.delegation_tokens.set(record),
    "EndTransactionRecord": lambda image, _: image._end_transaction(),
    "FeatureLevelRecord": lambda image, record: image.features.apply(record),
    "FenceBrokerRecord": lambda image, record: image.cluster.fence_broker(record),
    "NoOpRecord": lambda _image, _record: (),
    "PartitionChangeRecord": lambda image, record: image.topics.change_partition(record),
    "PartitionRecord": lambda image, record: image.topics.put_partition(record),
    "ProducerIdsRecord": lambda image, record: image.producer_ids.apply(record),
    "RegisterBrokerRecord": lambda image, record: image.cluster.register_broker(record),
    "RegisterControllerRecord": lambda image, record: image.cluster.register_controller(record),
    "RemoveAccessControlEntryRecord": lambda image, record: image.acls.remove(record),
    "RemoveDelegationTokenRecord": lambda image, record: image.delegation_tokens.remove(record),
    "RemoveTopicRecord": lambda image, record: image._remove_topic(record),
    "RemoveUserScramCredentialRecord": lambda image, record: image.scram.remove(record),
    "TopicRecord": lambda image, record: image.topics.create_topic(record),
    "UnfenceBrokerRecord": lambda image, record: image.cluster.unfence_broker(record),
    "UnregisterBrokerRecord": lambda image, record: image.cluster.unregister_broker(record),
    "UserScramCredentialRecord": lambda image, record: image.scram.set(record),
}
"""Which image each record of the metadata log changes."""
