"""Options of a command that are the fields of a struct, which the control port reads."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msgspec.structs import FieldInfo


def add_option(parser: Any, field: FieldInfo, part: str, *, required: bool = False) -> None:
    """Add the option for a field; its value is checked by the broker."""
    from msgspec import inspect

    info = inspect.type_info(field.type)
    told = ""
    if isinstance(info, inspect.Metadata):
        told = str((info.extra_json_schema or {}).get("description", ""))
        info = info.type
    kinds = info.types if isinstance(info, inspect.UnionType) else (info,)
    kinds = tuple(each.type if isinstance(each, inspect.Metadata) else each for each in kinds)
    option: dict[str, Any] = {
        "dest": f"{part}:{field.encode_name}",
        "help": told.replace("%", "%%"),
        "default": argparse.SUPPRESS,
        "required": required,
    }
    name = f"--{field.encode_name.replace('_', '-')}"
    kind = next(each for each in kinds if not isinstance(each, inspect.NoneType))
    if isinstance(kind, inspect.BoolType):
        parser.add_argument(name, action="store_true", **option)
        return
    if isinstance(kind, inspect.DictType):
        option |= {"action": "append", "type": _assignment, "metavar": "PATH=VALUE"}
    elif isinstance(kind, inspect.ListType):
        option |= {"action": "append", "metavar": "CONDITION"}
    elif isinstance(kind, inspect.StructType):
        option |= {"type": _json, "metavar": "JSON"}
    elif isinstance(kind, inspect.LiteralType):
        option |= {"choices": kind.values}
    elif isinstance(kind, inspect.IntType):
        option |= {"type": _whole, "metavar": "N"}
    elif isinstance(kind, inspect.FloatType):
        option |= {"type": float, "metavar": "N"}
    else:
        option["metavar"] = "TEXT"
    parser.add_argument(name, **option)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not JSON") from None


def _assignment(text: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not PATH=VALUE")
    try:
        return path, json.loads(value)
    except ValueError:
        return path, value


def given(options: argparse.Namespace, part: str) -> dict[str, Any]:
    """Return the fields of a part that options were given for."""
    return {
        name: value
        for dest, value in vars(options).items()
        for of_part, colon, name in [dest.partition(":")]
        if colon and of_part == part
    }
