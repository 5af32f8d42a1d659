"""Brokers: registration, heartbeats, fencing, controlled shutdown.

    unknown               ----register----------------------------> fenced
    fenced                ----heartbeat, caught up----------------> active
    active                ----heartbeat: wants to shut down-------> shutting down
    active, shutting down ----session over, or wants it-----------> fenced
    shutting down         ----leads nothing any more--------------> fenced, may stop
    any                   ----register, another incarnation-------> fenced, new epoch
    any                   ----unregister--------------------------> unknown

Only an active broker leads partitions or is in sync. A broker's epoch is the offset of the record
that registered it. The times of heartbeats are not in the log: a controller that starts gives every
broker a whole session. The broker in the controller's own process needs no heartbeats: it cannot
die alone, and must not be fenced when a test moves the clock by days.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from fencepost_protocol.generated.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from fencepost_protocol.generated.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from fencepost_protocol.generated.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)

from fencepost_broker.controller.context import Context
from fencepost_broker.controller.leadership import leads_any, with_broker, without_broker
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.features import METADATA_VERSION
from fencepost_broker.metadata.image.model import Broker
from fencepost_broker.metadata.log.records import REGISTER_BROKER_VERSION

RESERVED_DIRECTORIES: Final = 100
"""Number of directory ids that no directory has: 0 is unassigned, 1 is lost (KIP-858)."""
FORGOTTEN_EPOCH: Final = -2
"""Epoch of an unknown broker; a broker without an epoch sends -1."""
FENCE: Final = 1
UNFENCE: Final = -1
SHUTTING_DOWN: Final = 1


# -- registration -------------------------------------------------------------------------------


def register_broker(
    context: Context, request: BrokerRegistrationRequest, *, session_is_valid: bool
) -> Decision[BrokerRegistrationResponse]:
    """Decide a BrokerRegistration; ``session_is_valid`` is about the id's last incarnation."""
    existing = context.image.cluster.brokers.get(request.broker_id)
    same = existing is not None and existing.incarnation_id == request.incarnation_id
    code = _registration_problem(context, request)
    if code is ErrorCode.NONE and session_is_valid and not same:
        code = ErrorCode.DUPLICATE_BROKER_REGISTRATION
    if code is not ErrorCode.NONE:
        return Decision(BrokerRegistrationResponse(error_code=code))
    if existing is not None and same:  # it asks again: nothing about it has ended
        epoch, fenced, stopping = existing.epoch, existing.fenced, existing.in_controlled_shutdown
    else:
        epoch, fenced, stopping = context.image.next_offset, True, False
    record = RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=epoch,
        end_points=[
            BrokerEndpoint(each.name, each.host, each.port, each.security_protocol)
            for each in request.listeners
        ],
        features=[
            BrokerFeature(each.name, each.min_supported_version, each.max_supported_version)
            for each in request.features
        ],
        rack=request.rack,
        fenced=fenced,
        in_controlled_shutdown=stopping,
        log_dirs=list(request.log_dirs),
    )
    records = [MetadataRecord(record, REGISTER_BROKER_VERSION)]
    if not same:  # an earlier incarnation that was not fenced yet leads nothing any more
        known_epoch = FORGOTTEN_EPOCH if existing is None else existing.epoch
        was_clean = request.previous_broker_epoch == known_epoch
        records += without_broker(context, request.broker_id, is_lost=not was_clean)
    return Decision(BrokerRegistrationResponse(broker_epoch=epoch), tuple(records))


def _registration_problem(context: Context, request: BrokerRegistrationRequest) -> ErrorCode:
    expected = context.settings.cluster_id
    if expected and request.cluster_id != expected:
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    dirs = request.log_dirs
    others = {
        directory
        for broker in context.image.cluster.brokers.values()
        if broker.broker_id != request.broker_id
        for directory in broker.log_dirs
    }
    reserved = any(int.from_bytes(each, "big") < RESERVED_DIRECTORIES for each in dirs)
    if not dirs or reserved or len(set(dirs)) != len(dirs) or not others.isdisjoint(dirs):
        return ErrorCode.INVALID_REGISTRATION
    if request.broker_id < 0:
        return ErrorCode.INVALID_REGISTRATION
    ranges = {each.name: each for each in request.features}
    if METADATA_VERSION not in ranges:  # whatever else it may lack, a broker reads metadata
        return ErrorCode.INVALID_REGISTRATION
    for name, level in context.image.features.levels.items():
        known = ranges.get(name)
        if known is None or not known.min_supported_version <= level <= known.max_supported_version:
            return ErrorCode.UNSUPPORTED_VERSION
    return ErrorCode.NONE


# -- heartbeats ---------------------------------------------------------------------------------


class _Wanted(Enum):
    NOTHING = auto()
    ACTIVE = auto()
    FENCED = auto()
    SHUTTING_DOWN = auto()
    GONE = auto()


def heartbeat(
    context: Context, request: BrokerHeartbeatRequest
) -> Decision[BrokerHeartbeatResponse]:
    """Decide what a heartbeat changes; the caller notes when it came."""
    broker = context.image.cluster.brokers.get(request.broker_id)
    if broker is None or broker.epoch != request.broker_epoch:
        return Decision(BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
    wanted = _wanted(context, broker, request)
    records: tuple[MetadataRecord, ...] = ()
    fenced = broker.fenced
    if wanted is _Wanted.ACTIVE:
        fenced = False
        records = (_change(broker, fenced=UNFENCE), *with_broker(context, broker.broker_id))
    elif wanted is _Wanted.SHUTTING_DOWN:
        moved = without_broker(context, broker.broker_id)
        records = (_change(broker, stopping=SHUTTING_DOWN), *moved)
    elif wanted in {_Wanted.FENCED, _Wanted.GONE}:
        fenced = True
        records = () if broker.fenced else fence(context, broker)
    answer = BrokerHeartbeatResponse(
        is_caught_up=request.current_metadata_offset >= broker.epoch,
        is_fenced=fenced,
        should_shut_down=wanted is _Wanted.GONE,
    )
    return Decision(answer, records)


def _wanted(context: Context, broker: Broker, request: BrokerHeartbeatRequest) -> _Wanted:
    if broker.fenced:
        if request.want_shut_down:
            return _Wanted.GONE
        caught_up = request.current_metadata_offset >= broker.epoch
        return _Wanted.ACTIVE if caught_up and not request.want_fence else _Wanted.NOTHING
    stopping = broker.in_controlled_shutdown
    if request.want_fence and not stopping:
        return _Wanted.GONE if request.want_shut_down else _Wanted.FENCED
    if stopping or request.want_shut_down:
        if not leads_any(context, broker.broker_id):
            return _Wanted.GONE
        return _Wanted.NOTHING if stopping else _Wanted.SHUTTING_DOWN
    return _Wanted.NOTHING


def fence(context: Context, broker: Broker) -> tuple[MetadataRecord, ...]:
    """Return the records that fence a broker: its partitions first, then itself."""
    return (*without_broker(context, broker.broker_id), _change(broker, fenced=FENCE))


def _change(broker: Broker, *, fenced: int = 0, stopping: int = 0) -> MetadataRecord:
    """Return a change of a registration, in the lowest version that can express it."""
    message = BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id,
        broker_epoch=broker.epoch,
        fenced=fenced,
        in_controlled_shutdown=stopping,
    )
    return MetadataRecord(message, 1 if stopping else 0)
