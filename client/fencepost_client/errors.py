"""What can go wrong, as classes that say what to do about it (KIP-1050).

The class follows from the error code's kind in ``schemas/errors.json``; text and hint come from
there too. Catch the class, read the code:

    try:
        async with producer.transaction() as transaction:
            await transaction.send("orders", b"...")
    except AbortableTransactionError:
        ...  # it was aborted: do the same work again in a new transaction
    except FencedError:
        ...  # somebody else works under this identity now: close, start anew

========================== ===================================================================
RetriableError             send the same again; the SDK has done so until its time was over
AbortableTransactionError  this attempt failed, the client goes on: a new transaction, a new try
FencedError                this producer or member lost its identity: close it, start a new one
FatalError                 a setting, a permission or a bug: somebody has to change it
========================== ===================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Final

from fencepost_protocol.errors import ErrorCode, explain_error


class KafkaError(Exception):
    """The base of all that the SDK raises because of a broker or of time that passed.

    ``code`` is the broker's, or the one that says the same; ``hint`` is what to try next; ``state``
    tells what the client was doing. ``outcomes`` is not empty when several things were asked for at
    once: for each of them its result, or the error that it met.
    """

    CODE: ClassVar[int] = ErrorCode.UNKNOWN_SERVER_ERROR
    HINT: ClassVar[str] = ""
    """Instead of the code's own hint, where that is written for those who look at the wire."""

    def __init__(
        self, message: str | None = None, *, code: int | None = None, state: str | None = None
    ) -> None:
        self.code = self.CODE if code is None else code
        self.state = state
        self.role = ""
        """Whose it is, producer, consumer or admin: each can do something else about it."""
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
    """The same request may succeed later; the SDK gave up because its time was over."""


class AbortableTransactionError(KafkaError):
    """The attempt failed and can be made again; a transaction has to be aborted first."""


class FencedError(KafkaError):
    """An identity or a session is lost: close this client and start a new one."""


class FatalError(KafkaError):
    """Nothing works until somebody changes a setting, a permission or the program."""


class NetworkError(RetriableError):
    """The connection could not be made, or went before the answer came."""

    CODE = ErrorCode.NETWORK_EXCEPTION


class MalformedAnswerError(NetworkError):
    """The broker sent what is no answer; the connection was closed, the next one may do better."""

    HINT = "Look at what the address really is, and whether something in between changes bytes."


class RequestTimedOutError(RetriableError):
    """No answer came in time; what the request asked for may or may not have happened."""

    CODE = ErrorCode.REQUEST_TIMED_OUT
    HINT = (
        "See whether the broker runs, is paused or is overloaded. What was asked may have happened "
        "all the same: look before you repeat it."
    )


class NoBrokerError(RequestTimedOutError):
    """No broker could be asked: none runs there, or the way to it is closed."""

    HINT = "Start the broker, or correct bootstrap_servers (--bootstrap)."


class DeliveryTimedOutError(RequestTimedOutError):
    """A record was not acknowledged within ``delivery_timeout_ms``; it may still be in the log."""


class UnknownTopicOrPartitionError(RetriableError):
    """There is no such topic or partition (yet), or it is outside of what was pre-registered."""

    CODE = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class RecordTooLargeError(AbortableTransactionError):
    """A record is larger than a request may be."""

    CODE = ErrorCode.MESSAGE_TOO_LARGE


class OffsetOutOfRangeError(AbortableTransactionError):
    """There is nothing at this position, and no policy says where to go on."""

    CODE = ErrorCode.OFFSET_OUT_OF_RANGE


class LogTruncatedError(OffsetOutOfRangeError):
    """Records that were read are not in the log any more, and no policy says where to go on.

    The log agrees with what was read up to ``end_offset``, of leader epoch ``epoch``; -1 if the
    leader does not know (KIP-320).
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
    """The group has gone on without this member: its partitions may be others' by now."""

    CODE = ErrorCode.ILLEGAL_GENERATION


class TransactionAbortedError(AbortableTransactionError):
    """A record of a transaction that was aborted before the record was sent."""

    CODE = ErrorCode.TRANSACTION_ABORTABLE
    HINT = "Send it again in a new transaction, if it is still to be sent."


class TransactionTimedOutError(AbortableTransactionError):
    """The transaction took longer than ``transaction_timeout_ms``: its coordinator aborted it."""

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
    """What a leader's refusal was, whose transaction could be aborted all the same.

    A leader cannot tell a time-out from another producer. The coordinator can, which was asked.
    """
    if type(error) is AbortableTransactionError and error.__cause__ is not None:
        error = error.__cause__  # of what waited behind the batch that was refused
    if type(error) is FencedError and error.code == ErrorCode.INVALID_PRODUCER_EPOCH:
        return TransactionTimedOutError(state=error.state)
    return None


class ProducerFencedError(FencedError):
    """Another producer with the same transactional id has begun."""

    CODE = ErrorCode.PRODUCER_FENCED


class FencedInstanceIdError(FencedError):
    """Another member has the same ``group_instance_id``."""

    CODE = ErrorCode.FENCED_INSTANCE_ID


class GroupIdNotFoundError(FencedError):
    """There is no such group."""

    CODE = ErrorCode.GROUP_ID_NOT_FOUND
    HINT = "Groups are there from their first member or commit on; `list_groups` shows them."


class TransactionalIdNotFoundError(FencedError):
    """No coordinator knows this transactional id."""

    CODE = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    HINT = "An id is known from its first producer on; `list_transactions` shows those that are."


class TransactionKeptOpenError(FatalError):
    """The transaction does not hang: its coordinator will end it."""

    CODE = ErrorCode.INVALID_TXN_STATE
    HINT = "It ends by its producer or by its timeout; a marker by hand would tear it apart."


class NonEmptyGroupError(AbortableTransactionError):
    """A group with members is neither deleted nor given other offsets."""

    CODE = ErrorCode.NON_EMPTY_GROUP
    HINT = "Stop its members, or take them out with `remove_group_members`."


class UnsupportedVersionError(FatalError):
    """Broker and client have no version of this request in common."""

    CODE = ErrorCode.UNSUPPORTED_VERSION


class TopicAlreadyExistsError(FatalError):
    """The topic is there already."""

    CODE = ErrorCode.TOPIC_ALREADY_EXISTS


class InvalidGroupIdError(FatalError):
    """The group id is empty, or not the one that was pre-registered."""

    CODE = ErrorCode.INVALID_GROUP_ID


class AuthorizationError(FatalError):
    """The principal may not do this."""

    CODE = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


class AuthenticationError(FatalError):
    """The broker did not let us in, or is not who it should be."""

    CODE = ErrorCode.SASL_AUTHENTICATION_FAILED
    HINT = (
        "Check sasl_plain_username, sasl_plain_password, sasl_mechanism, and that "
        "security_protocol is this listener's. The broker does not say which part was wrong."
    )


class UnsupportedSaslMechanismError(AuthenticationError):
    """The listener offers other mechanisms."""

    CODE = ErrorCode.UNSUPPORTED_SASL_MECHANISM
    HINT = (
        "Set sasl_mechanism to one of these, or add yours to the broker's sasl.enabled.mechanisms."
    )


class TlsError(AuthenticationError):
    """There is no TLS with this port: plain text is spoken there, or a certificate is refused."""

    CODE = ErrorCode.NETWORK_EXCEPTION
    HINT = (
        "Check security_protocol and the port; ssl_ca_location has to have who signed the broker's "
        "certificate, which has to name the host as bootstrap_servers and the broker name it."
    )


class IllegalStateError(RuntimeError):
    """The program calls in the wrong order, such as a send not in a transaction."""


class ConfigError(ValueError):
    """A setting that does not exist, or that cannot have this value."""


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
    """The exception for a broker's error code, with the hint for this role."""
    made = _NAMED.get(code) or _BY_KIND[explain_error(code).kind]
    error = made(message, code=code, state=state)
    error.role = role
    return error


producer_error: Final = partial(error_of, role="producer")
consumer_error: Final = partial(error_of, role="consumer")
admin_error: Final = partial(error_of, role="admin")
