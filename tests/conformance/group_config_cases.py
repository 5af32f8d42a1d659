"""Settings of groups (ConfigResource GROUP): what is told of each, and which values it may have."""

from __future__ import annotations

from typing import Final, TypeAlias

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
)
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

from tests.support.broker import Client
from tests.support.waiting import asked_until

_GROUP: Final = 32
_OF_GROUP: Final = 8
_OTHER_DEFAULT: Final = "streams.initial.rebalance.delay.ms"
"""Fencepost does not wait."""
_SET, _DELETE, _APPEND = 0, 1, 2
_NUMBERS: Final = (
    -1, 0, 1, 2, 3, 4, 5, 6, 10, 11, 99, 100, 999, 1000, 1001, 1999, 2000, 4999, 5000, 9999, 10_000,
    10_001, 14_999, 15_000, 15_001, 29_999, 30_000, 44_999, 45_000, 59_999, 60_000, 60_001, 90_000,
    3_600_000, 3_600_001, 1 << 31,
)  # fmt: skip
_TEXTS: Final = (
    "", "x", " 5000", "5e3", "latest", "EARLIEST", "none", "by_duration:PT1H", "by_duration:-PT1H",
    "by_duration:1h", "read_committed", "READ_COMMITTED", "true", "False", "yes", None,
)  # fmt: skip


async def script(bootstrap: str) -> list[str]:
    """Return what is told of each setting, and the values that are accepted, as ranges."""
    async with Client(bootstrap) as client:
        lines = []
        for each in await _described(client, "g"):
            lines.append(_told(each))
            values = [None if value is None else str(value) for value in (*_NUMBERS, *_TEXTS)]
            taken = [repr(value) for value in values if not await _set(client, each.name, value)]
            lines.append(f"  may be {', '.join(taken)}")
        assert not await _alter(client, "g3", _SET_OF_ALL, is_meant=True)

        async def is_known() -> bool:
            return any(each.config_source == _OF_GROUP for each in await _described(client, "g3"))

        await asked_until(is_known)
        lines += [_told(each) for each in await _described(client, "g3")]
        for about, pairs in _TOGETHER.items():
            lines.append(f"{about}: {ErrorCode(await _alter(client, 'g2', pairs)).name}")
        for name, pairs in _NAMES.items():
            lines.append(f"group {name!r}: {ErrorCode(await _alter(client, name, pairs)).name}")
    return lines


_Change: TypeAlias = tuple[str, int, str | None]
_FINE: Final[tuple[_Change, ...]] = (("consumer.session.timeout.ms", _SET, "50000"),)
_SET_OF_ALL: Final = (
    ("consumer.session.timeout.ms", _SET, "50000"),
    ("share.auto.offset.reset", _SET, "earliest"),
    ("share.renew.acknowledge.enable", _SET, "false"),
    ("streams.num.standby.replicas", _SET, "1"),
)
_NAMES: Final = {"": _FINE, "a b": _FINE, "g" * 300: _FINE}
_TOGETHER: Final[dict[str, tuple[_Change, ...]]] = {
    "a heartbeat not below the session": (
        ("consumer.heartbeat.interval.ms", _SET, "15000"),
        ("consumer.session.timeout.ms", _SET, "45000"),
    ),
    "an unknown setting": (("consumer.nothing", _SET, "1"),),
    "a setting of topics": (("retention.ms", _SET, "1"),),
    "twice": (*_FINE, *_FINE),
    "appended": (("consumer.session.timeout.ms", _APPEND, "50000"),),
    "removed, though it is not set": (("consumer.session.timeout.ms", _DELETE, None),),
    "nothing": (),
}


async def _described(client: Client, group: str) -> list[DescribeConfigsResourceResult]:
    resource = DescribeConfigsResource(_GROUP, group, None)
    answer = await client.ask(DescribeConfigsRequest([resource], True, False), 4)
    told = [each for each in answer.results[0].configs if each.name != _OTHER_DEFAULT]
    return sorted(told, key=lambda each: each.name)


def _told(each: DescribeConfigsResourceResult) -> str:
    synonyms = [f"{one.name}={one.value} ({one.source})" for one in each.synonyms]
    return (
        f"{each.name}={each.value}: source {each.config_source}, type {each.config_type}, read only"
        f" {each.read_only}, synonyms {', '.join(synonyms)}"
    )


async def _set(client: Client, name: str, value: str | None) -> int:
    return await _alter(client, "h", ((name, _SET, value),))


async def _alter(
    client: Client, group: str, pairs: tuple[_Change, ...], *, is_meant: bool = False
) -> int:
    configs = [AlterableConfig(*pair) for pair in pairs]
    resource = AlterConfigsResource(_GROUP, group, configs)
    answer = await client.ask(IncrementalAlterConfigsRequest([resource], not is_meant), 1)
    return int(answer.responses[0].error_code)
