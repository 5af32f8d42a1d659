"""Delegation tokens (KIP-48, KIP-373): what users ask, and what Apache Kafka 4.3.1 answered."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from fencepost_protocol.generated.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from fencepost_protocol.generated.expire_delegation_token import ExpireDelegationTokenRequest
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.renew_delegation_token import RenewDelegationTokenRequest

from tests.support.logins import Peer, connected, plain_token, scram_final, scram_first
from tests.support.secure_kafka import PASSWORD, plain_module
from tests.support.waiting import asked_until

KEY: Final = "delegation.token.secret.key"
HOUR_MS, RENEWED_FOR_MS, LIFETIME_MS = 3_600_000, 86_400_000, 604_800_000
USERS: Final = ("alice", "bob", "carol", "root")
_SCRAM: Final = "SCRAM-SHA-256"
_SCRAM_MODULE: Final = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
_TOKEN: Final = ",tokenauth=true"
_USER, _DELEGATION_TOKEN = 7, 6
_LITERAL, _ALLOW, _DESCRIBE, _CREATE_TOKENS, _DESCRIBE_TOKENS = 3, 3, 8, 13, 14
SETTINGS: Final = {
    "sasl.enabled.mechanisms": f"PLAIN,{_SCRAM}",
    "listener.name.login.plain.sasl.jaas.config": plain_module(*USERS),
    "listener.name.login.scram-sha-256.sasl.jaas.config": _SCRAM_MODULE,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:root",
    KEY: "the key",
}


@dataclass
class Side:
    """A broker with delegation tokens, and the lines of what it answers."""

    plain: str
    login: str
    wait: Callable[[int], Awaitable[None]]
    """Lets so many milliseconds pass at the broker."""
    lines: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """The tokens of the script, by id."""

    @asynccontextmanager
    async def of(self, user: str) -> AsyncIterator[Peer]:
        """Log in by PLAIN."""
        async with connected(self.login) as peer:
            await peer.handshake("PLAIN")
            answer = await peer.token(plain_token(user, PASSWORD))
            assert not answer.error_code
            yield peer

    async def ask(self, user: str, message: Message, version: int) -> Any:
        """Ask as a user."""
        if user == "ANONYMOUS":
            async with connected(self.plain) as peer:
                return await peer.ask(message, version)
        async with self.of(user) as peer:
            return await peer.ask(message, version)

    def say(self, what: str, answer: Any) -> None:
        """Note an answer."""
        self.lines.append(f"{what}: {self._shown(answer)}")

    def _shown(self, answer: Any) -> str:
        shown = [ErrorCode(answer.error_code).name]
        if hasattr(answer, "tokens"):
            told = sorted(answer.tokens, key=lambda each: self.names[each.token_id])
            return " ".join(shown + [self._token(each) for each in told])
        if hasattr(answer, "principal_name"):
            names = ("principal_type", "principal_name", "token_requester_principal_type",
                     "token_requester_principal_name")  # fmt: skip
            shown += [repr(getattr(answer, name)) for name in names]
            issued = answer.issue_timestamp_ms
            times = (answer.expiry_timestamp_ms, answer.max_timestamp_ms)
            shown += [str(issued)] if issued < 0 else []
            shown += [str(each - issued if issued >= 0 else each) for each in times]
            shown += [f"{len(answer.token_id)} characters, {len(answer.hmac)} bytes"]
        elif hasattr(answer, "expiry_timestamp_ms"):
            shown += [str(answer.expiry_timestamp_ms)]
        return " ".join(shown)

    def _token(self, token: Any) -> str:
        renewers = ",".join(f"{e.principal_type}:{e.principal_name}" for e in token.renewers)
        return (
            f"[{self.names[token.token_id]} {token.principal_type}:{token.principal_name}"
            f" {token.token_requester_principal_type}:{token.token_requester_principal_name}"
            f" {renewers or '-'} {token.expiry_timestamp - token.issue_timestamp}"
            f" {token.max_timestamp - token.issue_timestamp} {len(token.hmac)} bytes]"
        )


def creation(
    *renewers: str, owner: str | None = None, lifetime_ms: int = -1, kind: str = "User"
) -> CreateDelegationTokenRequest:
    """Ask for a token."""
    wanted = [CreatableRenewers(kind, name) for name in renewers]
    return CreateDelegationTokenRequest(owner and "User", owner, wanted, lifetime_ms)


def owners(*names: str) -> DescribeDelegationTokenRequest:
    """Describe the tokens of these."""
    return DescribeDelegationTokenRequest(
        [DescribeDelegationTokenOwner("User", name) for name in names]
    )


_ASKED_BY_ALL: Final = (
    (creation(), 3), (owners("alice"), 3), (RenewDelegationTokenRequest(b"h", -1), 2),
    (ExpireDelegationTokenRequest(b"h", -1), 2),
)  # fmt: skip


async def script(side: Side) -> list[str]:
    """Ask everything; gives the lines."""
    await _refusals(side)
    made = await _creations(side)
    await _descriptions(side)
    await _renewals(side, made)
    await _logins(side, made)
    await _expiries(side, made)
    return side.lines


async def _refusals(side: Side) -> None:
    for message, version in _ASKED_BY_ALL:
        side.say(f"anonymous {message.NAME}", await side.ask("ANONYMOUS", message, version))
    side.say("for another", await side.ask("alice", creation(owner="bob"), 3))
    side.say("no user renews", await side.ask("alice", creation("g", kind="Group"), 3))
    side.say("an empty owner", await side.ask("alice", creation(owner=""), 3))
    side.say("unknown secret", await side.ask("alice", RenewDelegationTokenRequest(b"h", -1), 2))
    side.say("unknown secret", await side.ask("alice", ExpireDelegationTokenRequest(b"h", -1), 2))


async def _creations(side: Side) -> dict[str, Any]:
    made = {}
    for name, user, message, version in (
        ("own", "alice", creation("bob", "carol"), 3),
        ("old version", "alice", CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1), 1),
        ("short", "alice", creation(lifetime_ms=60_000), 3),
        ("no time", "alice", creation(lifetime_ms=0), 3),
        ("too long", "alice", creation(lifetime_ms=1 << 50), 3),
        ("by root", "root", creation("root", owner="alice"), 3),
        ("of bob", "bob", CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1), 2),
    ):
        made[name] = await side.ask(user, message, version)
        side.say(f"create {name}", made[name])
        side.names[made[name].token_id] = name
    return made


async def _descriptions(side: Side) -> None:
    async def until_all_are_there() -> bool:
        told = await side.ask("root", DescribeDelegationTokenRequest(None), 3)
        for each in told.tokens:
            side.names.setdefault(each.token_id, "empty owner")
        return len(told.tokens) == len(side.names)

    await asked_until(until_all_are_there)
    for user in ("alice", "bob", "carol", "root"):
        for version in (3, 1):
            message = DescribeDelegationTokenRequest(None)
            side.say(f"{user} describes all, v{version}", await side.ask(user, message, version))
        side.say(f"{user} describes none", await side.ask(user, owners(), 3))
        side.say(f"{user} describes alice's", await side.ask(user, owners("alice"), 3))
        side.say(f"{user} describes carol's", await side.ask(user, owners("carol", "x"), 3))
    rights = [
        AclCreation(_USER, "User:alice", _LITERAL, "User:bob", "*", _DESCRIBE_TOKENS, _ALLOW),
        AclCreation(_USER, "User:alice", _LITERAL, "User:bob", "*", _CREATE_TOKENS, _ALLOW),
    ]
    [token_id] = [each for each, name in side.names.items() if name == "of bob"]
    rights.append(
        AclCreation(_DELEGATION_TOKEN, token_id, _LITERAL, "User:carol", "*", _DESCRIBE, _ALLOW)
    )
    await side.ask("ANONYMOUS", CreateAclsRequest(rights), 3)

    async def until_bob_has_rights() -> bool:
        told = await side.ask("bob", DescribeDelegationTokenRequest(None), 3)
        return len(told.tokens) == len(side.names)

    await asked_until(until_bob_has_rights)
    for user in ("bob", "carol"):
        message = DescribeDelegationTokenRequest(None)
        side.say(f"{user} with rights describes", await side.ask(user, message, 3))
    answer = await side.ask("bob", creation(owner="alice", lifetime_ms=1), 3)
    side.say("bob with rights creates", answer)
    side.names[answer.token_id] = "of an instant"


async def _renewals(side: Side, made: dict[str, Any]) -> None:
    own = made["own"]
    for user, period_ms in (
        ("root", -1), ("carol", HOUR_MS), ("alice", 1 << 50), ("bob", -1), ("alice", 0),
        ("carol", -1),
    ):  # fmt: skip
        answer = await side.ask(user, RenewDelegationTokenRequest(own.hmac, period_ms), 2)
        told = _renewed(answer, own)
        side.lines.append(f"{user} renews for {period_ms}: {told}")


def _renewed(answer: Any, token: Any) -> str:
    """Tell an error, or for how long a token that was just made is valid."""
    code = ErrorCode(answer.error_code).name
    if answer.error_code:
        return f"{code} {answer.expiry_timestamp_ms}"
    lasts_ms = answer.expiry_timestamp_ms - token.issue_timestamp_ms
    known = {"the default": RENEWED_FOR_MS, "an hour": HOUR_MS, "nothing": 0, "all": LIFETIME_MS}
    return f"{code} {min(known, key=lambda name: abs(known[name] - lasts_ms))}"


async def _logins(side: Side, made: dict[str, Any]) -> None:
    own = made["own"]
    password = base64.b64encode(own.hmac).decode()
    for name, user, other, extension, word in (
        ("with the token", own.token_id, "", _TOKEN, password),
        ("in capitals", own.token_id, "", _TOKEN.replace("true", "TRUE"), password),
        ("for itself", own.token_id, own.token_id, _TOKEN, password),
        ("for its owner", own.token_id, "alice", _TOKEN, password),
        ("a wrong secret", own.token_id, "", _TOKEN, "another"),
        ("an unknown token", "another", "", _TOKEN, password),
        ("not as a token", own.token_id, "", "", password),
        ("not as a token, it says", own.token_id, "", ",tokenauth=false", password),
    ):
        async with connected(side.login) as peer:
            answer = await _log_in(peer, user, word, other, extension)
            lasts = 0 < answer.session_lifetime_ms <= RENEWED_FOR_MS
            code = ErrorCode(answer.error_code).name
            side.lines.append(f"login {name}: {code}{', for a time' if lasts else ''}")
            if answer.error_code:
                continue
            assert await peer.ask(MetadataRequest(), 12)
            for message, version in _ASKED_BY_ALL:
                side.say(f"  {message.NAME}", await peer.ask(message, version))


async def _log_in(peer: Peer, user: str, password: str, other: str, extension: str) -> Any:
    await peer.handshake(_SCRAM)
    answer = await peer.token(scram_first(user, other, more=extension))
    if answer.error_code:
        return answer
    binding = base64.b64encode(f"n,{other and f'a={other}'},".encode()).decode()
    final = scram_final(
        _SCRAM, user, password, bytes(answer.auth_bytes), first_more=extension, binding=binding
    )
    return await peer.token(final)


async def _expiries(side: Side, made: dict[str, Any]) -> None:
    token, short = made["by root"], made["short"]
    for user, period_ms in (
        ("bob", 5), ("root", 2 * HOUR_MS), ("alice", 1 << 50), ("alice", HOUR_MS),
    ):  # fmt: skip
        answer = await side.ask(user, ExpireDelegationTokenRequest(token.hmac, period_ms), 2)
        side.lines.append(f"{user} expires in {period_ms}: {_renewed(answer, token)}")
    await side.ask("alice", ExpireDelegationTokenRequest(short.hmac, 300), 2)
    await side.wait(500)
    async with connected(side.login) as peer:
        password = base64.b64encode(short.hmac).decode()
        answer = await _log_in(peer, short.token_id, password, "", _TOKEN)
        told = ErrorCode(answer.error_code).name, answer.session_lifetime_ms
        side.lines.append(f"login with an expired token: {told}")
        answer = await peer.ask(MetadataRequest(), 12)
        side.lines.append(f"  Metadata: {'closed' if answer is None else 'answered'}")
    for message, version in (
        (RenewDelegationTokenRequest(short.hmac, -1), 2),
        (ExpireDelegationTokenRequest(short.hmac, 5), 2),
        (RenewDelegationTokenRequest(short.hmac, -1), 1),
        (ExpireDelegationTokenRequest(short.hmac, -1), 1),
        (RenewDelegationTokenRequest(short.hmac, -1), 2),
    ):  # fmt: skip
        answer = await side.ask("alice", message, version)
        expiry_ms = "now" if answer.expiry_timestamp_ms > 0 else answer.expiry_timestamp_ms
        side.lines.append(f"then {message.NAME}: {ErrorCode(answer.error_code).name} {expiry_ms}")
