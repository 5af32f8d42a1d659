"""Fetch: read records from an offset on, and wait for them if necessary.

Behaviour: partitions are read in the order of the request until MaxBytes is used up; the first
batch of the answer may exceed every limit, so that a consumer never gets stuck (KIP-74). With
fewer than MinBytes at hand the request is parked until enough is appended or MaxWaitMs is over.
Isolation level 1 reads up to the last stable offset and names the aborted transactions. A follower
reads up to the log's end; the offset that it asks for tells how far it has copied the log.

From version 11 on consumers may read from a follower, up to the high watermark that it knows of,
and a leader sends a consumer to a follower in its rack (KIP-392; ``replica.selector.class``).

Version notes: 7 brought sessions (KIP-227), see :mod:`fencepost_broker.apis.fetch.sessions`. 13
names topics by id. 15 brought the broker epochs of followers (KIP-903). From 16 on a refusal names
the leader (KIP-951).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import FetchRequest, FetchResponse, PartitionData

from fencepost_broker.apis.fetch.fetching import BY_ID_FROM, Fetching, add, replica_of
from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_ISOLATION_LEVELS: Final = (0, 1)


def fetch(context: BrokerContext, request: Request, message: FetchRequest) -> Answer | None:
    """Answer Fetch, versions 4 to 18."""
    replica = replica_of(message)
    if replica is not None and not context.access.allows_cluster_action(request.peer):
        from fencepost_broker.apis.fetch.followers import refuse_follower, tell_refused

        tell_refused(context, request)
        refusal = refuse_follower(message)
        context.metrics.note_errors(refusal)
        return refusal
    opened = context.fetch_sessions.open(
        context.clock.now_ms(), message, by_id=request.version >= BY_ID_FROM
    )
    if opened.error:
        refusal = FetchResponse(error_code=opened.error)
        context.metrics.note_errors(refusal)
        return refusal
    fetching: Fetching
    if replica is None:
        fetching = Fetching(context, request, message, opened, None)
    elif context.replicas.quotas.leader is not None:
        from fencepost_broker.apis.fetch.throttled import throttled

        fetching = throttled(context, request, message, opened, replica)
    elif opened.session is not None and not opened.is_first:
        from fencepost_broker.apis.fetch.followers import ReplicaFetching

        fetching = ReplicaFetching(context, request, message, opened, replica)
    else:
        fetching = Fetching(context, request, message, opened, replica)
    if message.isolation_level not in _ISOLATION_LEVELS and any(
        each.partition is not None for each in fetching.wanted
    ):
        return _refuse_all(context, message)
    response = fetching.attempt()
    if response is None and (message.max_wait_ms <= 0 or not request.peer.may_park):
        response = fetching.whatever_there_is()
    if response is None:
        fetching.park(message.max_wait_ms)
        return None
    return response


def _refuse_all(context: BrokerContext, message: FetchRequest) -> FetchResponse:
    """Refuse an unknown isolation level with an error for each partition, as Kafka does."""
    error = ErrorCode.UNKNOWN_SERVER_ERROR
    refusal = FetchResponse(error_code=error)
    for topic in message.topics:
        for entry in topic.partitions:
            add(refusal, topic, PartitionData(entry.partition, error, -1))
    context.metrics.note_errors(refusal)
    return refusal
