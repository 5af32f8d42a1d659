"""The errors of the client, in classes by what to do about them (KIP-1050).

The class follows from the kind of the error code in ``schemas/errors.json``, which also has the
text and the hint. Catch the class, and read the code:

    try:
        async with producer.transaction() as transaction:
            await transaction.send("orders", b"...")
    except AbortableTransactionError:
        ...  # it was aborted: repeat the work in a new transaction
    except FencedError:
        ...  # another process uses this identity now: close, and start again

========================== ===================================================================
RetriableError             try the same again; the client has retried until its timeout
AbortableTransactionError  this attempt failed; the client can be used for another attempt
FencedError                this producer or member lost its identity: close it, start a new one
FatalError                 a setting, a permission or a program is wrong, and must be changed
========================== ===================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Final

from fencepost_protocol.errors import ErrorCode, explain_error


class KafkaError(Exception):
    """The base class of errors that come from a broker or from a timeout.

    ``code`` is the broker's error code, or the one with the same meaning. ``hint`` says what to try
    next, and ``state`` what the client was doing. After a call for several items, ``outcomes`` has
    the result or the error of each.
    """

    CODE: ClassVar[int] = ErrorCode.UNKNOWN_SERVER_ERROR
    HINT: ClassVar[str] = ""
    """Used instead of the hint of the code, which is written for readers of captures."""

    def __init__(
        self, message: str | None = None, *, code: int | None = None, state: str | None = None
    ) -> None:
        self.code = self.CODE if code is None else code
        self.state = state
        self.role = ""
        """producer, consumer or admin, which have different hints."""
        self.outcomes: Mapping[Any, Any] = {}
        info = explain_error(self.code)
        self.name = info.name
        self.message = message or info.about
        super().__init__(self.message)

    @property
    def hint(self) -> str:
        """What to try next."""
        info = explain_error(self.code)
        return self.HINT or info.hints.get(self.role, info.hint)

    def __str__(self) -> str:
        while_doing = f" (while {self.state})" if self.state else ""
        stop = "" if self.message.endswith((".", "!", "?", ":")) else "."
        return f"{self.name}{while_doing}: {self.message}{stop} {self.hint}"


class RetriableError(KafkaError):
    """The same request may succeed later. The client retried until its timeout."""


class AbortableTransactionError(KafkaError):
    """The attempt failed and can be repeated, after the abort of a transaction."""


class FencedError(KafkaError):
    """The client has lost its identity or session: close it, and start a new one."""


class FatalError(KafkaError):
    """The request will fail until a setting, a permission or the program is changed."""


class NetworkError(RetriableError):
    """The connection failed, or was lost before the answer."""

    CODE = ErrorCode.NETWORK_EXCEPTION


class MalformedAnswerError(NetworkError):
    """The broker's answer is malformed; the connection was closed."""

    HINT = "Look at what the address really is, and whether something in between changes bytes."


class RequestTimedOutError(RetriableError):
    """No answer came in time. The broker may have carried out the request."""

    CODE = ErrorCode.REQUEST_TIMED_OUT
    HINT = (
        "See whether the broker runs, is paused or is overloaded. What was asked may have happened "
        "all the same: look before you repeat it."
    )


class NoBrokerError(RequestTimedOutError):
    """No broker could be reached: none runs at these addresses, or the network is down."""

    HINT = "Start the broker, or correct bootstrap_servers (--bootstrap)."


class DeliveryTimedOutError(RequestTimedOutError):
    """A record was not acknowledged within ``delivery_timeout_ms``; it may still be in the log."""


class UnknownTopicOrPartitionError(RetriableError):
    """The topic or partition does not exist (yet), or was not pre-registered."""

    CODE = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class RecordTooLargeError(AbortableTransactionError):
    """The record is larger than the limit."""

    CODE = ErrorCode.MESSAGE_TOO_LARGE


class OffsetOutOfRangeError(AbortableTransactionError):
    """The position is not in the log, and there is no reset policy."""

    CODE = ErrorCode.OFFSET_OUT_OF_RANGE


class LogTruncatedError(OffsetOutOfRangeError):
    """The log has lost records that were read before, and there is no reset policy.

    Up to ``end_offset``, of leader epoch ``epoch``, the log has the records that were read; -1 if
    the leader does not know (KIP-320).
    """

    HINT = "Seek to where you want to go on; what was read behind that may have been replaced."

    def __init__(self, where: tuple[str, int], offset: int, epoch: int, end_offset: int) -> None:
        self.where = where
        self.offset = offset
        self.epoch = epoch
        self.end_offset = end_offset
        known = f"it agrees up to offset {end_offset} of leader epoch {epoch}"
        super().__init__(
            f"The log of {where[0]}-{where[1]} was cut off below offset {offset}, which was read: "
            f"{known if end_offset >= 0 else 'nothing of it is known to agree'}."
        )


class CommitFailedError(AbortableTransactionError):
    """The group has removed this member, and may have given its partitions to others."""

    CODE = ErrorCode.ILLEGAL_GENERATION


class TransactionAbortedError(AbortableTransactionError):
    """The transaction was aborted before the record was sent."""

    CODE = ErrorCode.TRANSACTION_ABORTABLE
    HINT = "Send it again in a new transaction, if it is still to be sent."


class TransactionTimedOutError(AbortableTransactionError):
    """The transaction exceeded ``transaction_timeout_ms``, and the coordinator aborted it."""

    CODE = ErrorCode.TRANSACTION_ABORTABLE
    HINT = (
        "Nothing of it is committed, and the producer goes on: abort, do the work again; with "
        "less of it in a transaction, or a longer transaction_timeout_ms."
    )

    def __init__(self, *, state: str | None = None) -> None:
        super().__init__(
            "The transaction's time was over, its coordinator aborted it.", state=state
        )


def timed_out_instead_of(error: BaseException) -> TransactionTimedOutError | None:
    """The timeout that a leader's error stands for, if the transaction could be aborted.

    A leader cannot distinguish a timeout from another producer. The coordinator can.
    """
    if type(error) is AbortableTransactionError and error.__cause__ is not None:
        error = error.__cause__  # the error of batches after the one that was refused
    if type(error) is FencedError and error.code == ErrorCode.INVALID_PRODUCER_EPOCH:
        return TransactionTimedOutError(state=error.state)
    return None


class ProducerFencedError(FencedError):
    """Another producer uses the same transactional id."""

    CODE = ErrorCode.PRODUCER_FENCED


class FencedInstanceIdError(FencedError):
    """Another member uses the same ``group_instance_id``."""

    CODE = ErrorCode.FENCED_INSTANCE_ID


class GroupIdNotFoundError(FencedError):
    """The group does not exist."""

    CODE = ErrorCode.GROUP_ID_NOT_FOUND
    HINT = "Groups are there from their first member or commit on; `list_groups` shows them."


class TransactionalIdNotFoundError(FencedError):
    """The transactional id does not exist."""

    CODE = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    HINT = "An id is known from its first producer on; `list_transactions` shows those that are."


class TransactionKeptOpenError(FatalError):
    """The transaction is not hanging: its coordinator will end it."""

    CODE = ErrorCode.INVALID_TXN_STATE
    HINT = "It ends by its producer or by its timeout; a marker by hand would tear it apart."


class NonEmptyGroupError(AbortableTransactionError):
    """The group has members, so it cannot be deleted, nor its offsets changed."""

    CODE = ErrorCode.NON_EMPTY_GROUP
    HINT = "Stop its members, or take them out with `remove_group_members`."


class UnsupportedVersionError(FatalError):
    """Broker and client support no common version of the request."""

    CODE = ErrorCode.UNSUPPORTED_VERSION


class TopicAlreadyExistsError(FatalError):
    """The topic exists already."""

    CODE = ErrorCode.TOPIC_ALREADY_EXISTS


class InvalidGroupIdError(FatalError):
    """The group id is empty, or differs from the pre-registered one."""

    CODE = ErrorCode.INVALID_GROUP_ID


class AuthorizationError(FatalError):
    """The principal is not authorized."""

    CODE = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


class AuthenticationError(FatalError):
    """The login failed, or the broker could not prove its identity."""

    CODE = ErrorCode.SASL_AUTHENTICATION_FAILED
    HINT = (
        "Check sasl_plain_username, sasl_plain_password, sasl_mechanism, and that "
        "security_protocol is this listener's. The broker does not say which part was wrong."
    )


class UnsupportedSaslMechanismError(AuthenticationError):
    """The listener does not support this SASL mechanism."""

    CODE = ErrorCode.UNSUPPORTED_SASL_MECHANISM
    HINT = (
        "Set sasl_mechanism to one of these, or add yours to the broker's sasl.enabled.mechanisms."
    )


class TlsError(AuthenticationError):
    """TLS failed: the port expects plain text, or a certificate was refused."""

    CODE = ErrorCode.NETWORK_EXCEPTION
    HINT = (
        "Check security_protocol and the port; ssl_ca_location has to have who signed the broker's "
        "certificate, which has to name the host as bootstrap_servers and the broker name it."
    )


class IllegalStateError(RuntimeError):
    """A call in the wrong state, such as a send before ``begin``."""


class ConfigError(ValueError):
    """A setting does not exist, or has an invalid value."""


_BY_KIND: Final[dict[str, type[KafkaError]]] = {
    "retriable": RetriableError,
    "refresh": RetriableError,
    "abortable": AbortableTransactionError,
    "application-recoverable": FencedError,
    "fatal": FatalError,
}
_NAMED: Final[dict[int, type[KafkaError]]] = {
    named.CODE: named
    for named in (
        NetworkError,
        RequestTimedOutError,
        UnknownTopicOrPartitionError,
        RecordTooLargeError,
        OffsetOutOfRangeError,
        ProducerFencedError,
        FencedInstanceIdError,
        UnsupportedVersionError,
        TopicAlreadyExistsError,
        InvalidGroupIdError,
        GroupIdNotFoundError,
        TransactionalIdNotFoundError,
        NonEmptyGroupError,
        AuthenticationError,
        UnsupportedSaslMechanismError,
    )
} | {
    ErrorCode.ILLEGAL_SASL_STATE: AuthenticationError,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: AuthorizationError,
    ErrorCode.GROUP_AUTHORIZATION_FAILED: AuthorizationError,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: AuthorizationError,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: AuthorizationError,
}


def error_of(
    code: int, message: str | None = None, *, state: str | None = None, role: str = ""
) -> KafkaError:
    """The exception for an error code, with the hint for a role."""
    made = _NAMED.get(code) or _BY_KIND[explain_error(code).kind]
    error = made(message, code=code, state=state)
    error.role = role
    return error


producer_error: Final = partial(error_of, role="producer")
consumer_error: Final = partial(error_of, role="consumer")
admin_error: Final = partial(error_of, role="admin")
