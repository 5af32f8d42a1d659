"""AlterUserScramCredentials (KIP-554): SCRAM credentials of users.

A user may be in a request once, with any mechanism; otherwise nothing is changed for that user. The
client has salted and hashed the password; what RFC 5802 keeps is kept, and it does not reveal the
password.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.remove_user_scram_credential_record import (
    RemoveUserScramCredentialRecord,
)
from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

from fencepost_broker.controller.context import Context, Refusal, too_many_records
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.security.scram import scram_credential


class Mechanism(NamedTuple):
    """A variant of SCRAM."""

    name: str
    digest: str
    iterations_min: int


MECHANISMS: Final = {
    1: Mechanism("SCRAM-SHA-256", "sha256", 4096),
    2: Mechanism("SCRAM-SHA-512", "sha512", 4096),
}
ITERATIONS_MAX: Final = 16384
_Change: TypeAlias = ScramCredentialDeletion | ScramCredentialUpsertion


def alter_scram_credentials(
    context: Context, request: AlterUserScramCredentialsRequest
) -> Decision[AlterUserScramCredentialsResponse]:
    """Decide an AlterUserScramCredentials request."""
    outcomes: dict[str, MetadataRecord | Refusal] = {}
    changes: list[_Change] = [*request.deletions, *request.upsertions]
    for change in changes:
        user = change.name
        if isinstance(outcomes.get(user), Refusal):
            continue  # what was wrong first is told
        if user in outcomes:
            outcomes[user] = Refusal(
                ErrorCode.DUPLICATE_RESOURCE,
                f"{user} is in the request more than once: send one mechanism for each user",
            )
            continue
        try:
            outcomes[user] = _decide(context, change)
        except Refusal as refusal:
            outcomes[user] = refusal
    records = tuple(each for each in outcomes.values() if not isinstance(each, Refusal))
    if len(records) > context.settings.records_per_request_max:
        too_many = too_many_records(context.settings.records_per_request_max)
        outcomes, records = dict.fromkeys(outcomes, too_many), ()
    results = [
        AlterUserScramCredentialsResult(user, outcome.code, outcome.message)
        if isinstance(outcome, Refusal)
        else AlterUserScramCredentialsResult(user, ErrorCode.NONE, None)
        for user, outcome in outcomes.items()
    ]
    return Decision(AlterUserScramCredentialsResponse(results=results), records)


def _decide(context: Context, change: _Change) -> MetadataRecord:
    if not change.name:
        raise Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "the user's name is empty")
    mechanism = MECHANISMS.get(change.mechanism)
    if mechanism is None:
        known = ", ".join(f"{number} ({each.name})" for number, each in MECHANISMS.items())
        raise Refusal(
            ErrorCode.UNSUPPORTED_SASL_MECHANISM,
            f"there is no SCRAM mechanism {change.mechanism}: use {known}",
        )
    if isinstance(change, ScramCredentialUpsertion):
        return MetadataRecord(_credential(mechanism, change), 0)
    if (change.name, change.mechanism) not in context.image.scram.credentials:
        raise Refusal(
            ErrorCode.RESOURCE_NOT_FOUND,
            f"{change.name} has no {mechanism.name} credential to delete",
        )
    return MetadataRecord(RemoveUserScramCredentialRecord(change.name, change.mechanism), 0)


def _credential(
    mechanism: Mechanism, upsertion: ScramCredentialUpsertion
) -> UserScramCredentialRecord:
    if not mechanism.iterations_min <= upsertion.iterations <= ITERATIONS_MAX:
        raise Refusal(
            ErrorCode.UNACCEPTABLE_CREDENTIAL,
            f"{upsertion.iterations} iterations: {mechanism.name} takes "
            f"{mechanism.iterations_min} to {ITERATIONS_MAX}",
        )
    if not upsertion.salted_password:
        raise Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "the salted password is empty")

    return scram_credential(
        upsertion.name,
        upsertion.mechanism,
        mechanism.digest,
        upsertion.salt,
        upsertion.salted_password,
        upsertion.iterations,
    )
