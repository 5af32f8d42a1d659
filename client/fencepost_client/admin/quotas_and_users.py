"""Quotas of clients (KIP-546) and SCRAM users (KIP-554)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import alter_client_quotas as altering
from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from fencepost_protocol.generated.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from fencepost_protocol.generated.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.admin.fan_out import ItemRequest, ItemResult, ask_at, gather, settle
from fencepost_client.errors import ConfigError, KafkaError, admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import ANY_NODE, Ask, Controller, Procedure, retry
from fencepost_client.types import distinct

_EXACTLY, _DEFAULT, _ANY = range(3)


class QuotaName(Enum):
    """Special names in entities."""

    DEFAULT = "default"
    """The default quota."""
    ANY = "any"
    """Any name; only for describing quotas."""


@dataclass(frozen=True, slots=True)
class QuotaEntity:
    """The entity of a quota: a user, a client id, both, or an address.

    QuotaEntity(client_id="loader")
    QuotaEntity(user="alice", client_id=QuotaName.DEFAULT)
    """

    user: str | QuotaName | None = None
    client_id: str | QuotaName | None = None
    ip: str | QuotaName | None = None

    def __str__(self) -> str:
        """As messages name it."""
        return " ".join(f"{kind} {name!r}" for kind, name in self.named()) or "nobody"

    def named(self) -> list[tuple[str, str | QuotaName]]:
        """The kinds and names."""
        parts = (("user", self.user), ("client-id", self.client_id), ("ip", self.ip))
        return [(kind, name) for kind, name in parts if name is not None]


class ScramMechanism(IntEnum):
    """The SCRAM mechanisms."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2


_HASHES: Final = {ScramMechanism.SCRAM_SHA_256: "sha256", ScramMechanism.SCRAM_SHA_512: "sha512"}


@dataclass(frozen=True, slots=True)
class SetPassword:
    """Set a user's password for a mechanism; the password itself is not sent."""

    mechanism: ScramMechanism
    password: str = field(repr=False)
    iterations: int = 4096


@dataclass(frozen=True, slots=True)
class DeletePassword:
    """Delete a user's password for a mechanism."""

    mechanism: ScramMechanism


def alter_client_quotas(
    changes: Mapping[QuotaEntity, Mapping[str, float | None]],
    backoff: Backoff,
    *,
    validate_only: bool,
) -> Procedure[dict[QuotaEntity, None]]:
    """Set quotas, and remove those that are ``None``; atomic for each entity."""
    for entity in changes:
        if any(name is QuotaName.ANY for _, name in entity.named()):
            raise ConfigError(f"{entity} is not an entity: ANY is for describe_client_quotas only")

    def build(_: int, some: Sequence[QuotaEntity]) -> altering.AlterClientQuotasRequest:
        entries = [
            altering.AlterClientQuotasRequestEntryData(
                [
                    altering.AlterClientQuotasRequestEntityData(
                        kind, name if isinstance(name, str) else None
                    )
                    for kind, name in each.named()
                ],
                [
                    altering.OpData(key, 0.0 if value is None else value, value is None)
                    for key, value in changes[each].items()
                ],
            )
            for each in some
        ]
        return altering.AlterClientQuotasRequest(entries, validate_only)

    def read(answer: Any, _: object) -> Iterable[ItemResult[QuotaEntity, None]]:
        for told in answer.entries:
            yield ItemResult(_entity(told.entity), told.error_code, told.error_message, None)

    question = ItemRequest("changing quotas of", ApiKey.ALTER_CLIENT_QUOTAS, build, read)
    return gather(question, changes, ask_at(Controller()), backoff)


def _entity(parts: Iterable[Any]) -> QuotaEntity:
    names = {
        part.entity_type: QuotaName.DEFAULT if part.entity_name is None else part.entity_name
        for part in parts
    }
    return QuotaEntity(names.get("user"), names.get("client-id"), names.get("ip"))


def describe_client_quotas(
    conditions: QuotaEntity, backoff: Backoff, *, strict: bool
) -> Procedure[dict[QuotaEntity, dict[str, float]]]:
    """Describe the quotas of entities with these names; without names, of all."""

    def component(kind: str, name: str | QuotaName) -> ComponentData:
        if isinstance(name, str):
            return ComponentData(kind, _EXACTLY, name)
        return ComponentData(kind, _ANY if name is QuotaName.ANY else _DEFAULT, None)

    components = [component(*each) for each in conditions.named()]
    request = DescribeClientQuotasRequest(components, strict)
    ask = Ask(ANY_NODE, ApiKey.DESCRIBE_CLIENT_QUOTAS, lambda _: request)
    answer = yield from retry(ask, lambda answer: answer.error_code, backoff)
    if answer.error_code:
        raise admin_error(answer.error_code, answer.error_message, state="describing quotas")
    return {
        _entity(entry.entity): {each.key: each.value for each in entry.values}
        for entry in answer.entries or ()
    }


def alter_user_scram_credentials(
    changes: Mapping[str, SetPassword | DeletePassword],
    salts: Mapping[str, bytes],
    backoff: Backoff,
) -> Procedure[dict[str, None]]:
    """Set or delete passwords of users, one mechanism for each user."""

    def build(_: int, some: Sequence[str]) -> AlterUserScramCredentialsRequest:
        request = AlterUserScramCredentialsRequest()
        for user in some:
            change = changes[user]
            if isinstance(change, DeletePassword):
                request.deletions.append(ScramCredentialDeletion(user, change.mechanism))
            else:
                request.upsertions.append(_upsertion(user, change, salts[user]))
        return request

    def read(answer: Any, _: object) -> Iterable[ItemResult[str, None]]:
        for told in answer.results:
            yield ItemResult(told.user, told.error_code, told.error_message, None)

    question = ItemRequest(
        "changing the password of", ApiKey.ALTER_USER_SCRAM_CREDENTIALS, build, read
    )
    return gather(question, changes, ask_at(Controller()), backoff)


def _upsertion(user: str, change: SetPassword, salt: bytes) -> ScramCredentialUpsertion:
    # Too few or too many are refused by who knows the limits, not by an error of hashing here.
    salted = hashlib.pbkdf2_hmac(
        _HASHES[change.mechanism], change.password.encode(), salt, max(1, change.iterations)
    )
    return ScramCredentialUpsertion(user, change.mechanism, change.iterations, salt, salted)


def describe_user_scram_credentials(
    users: Iterable[str] | None, backoff: Backoff
) -> Procedure[dict[str, dict[ScramMechanism, int]]]:
    """Describe the SCRAM mechanisms of users, or of all users, with their iterations."""
    wanted = None if users is None else [UserName(user) for user in distinct(users)]
    if wanted == []:
        return {}  # to a broker none is all
    ask = Ask(
        ANY_NODE,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        lambda _: DescribeUserScramCredentialsRequest(wanted),
    )
    answer = yield from retry(ask, lambda answer: answer.error_code, backoff)
    if answer.error_code:
        state = "describing SCRAM users"
        raise admin_error(answer.error_code, answer.error_message, state=state)
    done: dict[str, dict[ScramMechanism, int]] = {}
    failed: dict[str, KafkaError] = {}
    for told in answer.results:
        if told.error_code == ErrorCode.NONE:
            done[told.user] = {
                ScramMechanism(each.mechanism): each.iterations for each in told.credential_infos
            }
        else:
            doing = f"describing SCRAM user {told.user!r}"
            failed[told.user] = admin_error(told.error_code, told.error_message, state=doing)
    return settle(done, failed)
