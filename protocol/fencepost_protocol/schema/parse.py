"""Parses schema files; anything that the dialect does not allow is an error.

Errors name the file and the field, for the person who has edited the file.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final

from fencepost_protocol.schema.model import (
    EMPTY,
    MAX_VERSION,
    NO_VERSIONS,
    NULLABLE_PRIMITIVES,
    PRIMITIVES,
    RESERVED_TAGS_FROM,
    Array,
    Default,
    Field,
    FieldType,
    Message,
    Primitive,
    Struct,
    StructType,
    Versions,
    snake_case,
)

MESSAGE_KINDS: Final = frozenset(
    {"request", "response", "header", "data", "metadata", "coordinator-key", "coordinator-value"}
)
_MESSAGE_ATTRIBUTES: Final = frozenset(
    {
        "apiKey", "type", "listeners", "name", "validVersions", "flexibleVersions",
        "latestVersionUnstable", "about", "history", "fields", "commonStructs",
    }
)  # fmt: skip
_FIELD_ATTRIBUTES: Final = frozenset(
    {
        "name", "type", "versions", "nullableVersions", "taggedVersions", "tag", "flexibleVersions",
        "default", "ignorable", "mapKey", "zeroCopy", "entityType", "about", "fields",
    }
)  # fmt: skip
_STRUCT_ATTRIBUTES: Final = frozenset({"name", "versions", "about", "fields"})
_INTEGER_RANGES: Final = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
}


class SchemaError(Exception):
    """A schema file is invalid; the message names file and field."""


def parse_versions(text: str, allow_none: bool = True) -> Versions:
    """``"3"``, ``"0-5"``, ``"9+"`` or, where allowed, ``"none"``."""
    if text == "none" and allow_none:
        return NO_VERSIONS
    match = re.fullmatch(r"(\d{1,5})(?:(\+)|-(\d{1,5}))?", text)
    if match is None:
        raise ValueError(f"{text!r} is not a version range such as 3, 0-5 or 9+")
    lowest = int(match[1])
    highest = MAX_VERSION if match[2] else int(match[3] or match[1])
    if highest < lowest or lowest > MAX_VERSION or highest > MAX_VERSION:
        raise ValueError(f"{text!r} is an empty version range")
    return Versions(lowest, highest)


def parse_message(text: bytes, source: str) -> Message:
    """Read one schema file's text; ``source`` is its name in errors and headers."""
    try:
        raw = json.loads(text, object_pairs_hook=_no_duplicate_keys)
    except ValueError as cause:
        raise SchemaError(f"{source}: not JSON: {cause}") from cause
    return _MessageParser(source, hashlib.sha256(text).hexdigest()).parse(raw)


def _no_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"the attribute {key!r} stands twice in one object")
    return dict(pairs)


class _MessageParser:
    def __init__(self, source: str, digest: str) -> None:
        self.source = source
        self.digest = digest
        self.valid = NO_VERSIONS
        self.flexible = NO_VERSIONS
        self.structs: dict[str, Struct] = {}
        self.common: dict[str, dict[str, Any]] = {}
        self.common_versions: dict[str, Versions] = {}
        self.name = ""

    def fail(self, path: str, reason: str) -> SchemaError:
        return SchemaError(f"{self.source}: {path or 'message'}: {reason}")

    def parse(self, raw: Any) -> Message:
        self.expect_object(raw, "", _MESSAGE_ATTRIBUTES)
        self.name = self.text(raw, "name", "")
        kind = self.text(raw, "type", "")
        if kind not in MESSAGE_KINDS:
            raise self.fail("", f"type {kind!r} is none of {', '.join(sorted(MESSAGE_KINDS))}")
        if self.source.rpartition("/")[2] != f"{self.name}.json":
            raise self.fail("", f"the file should be called {self.name}.json")
        api_key = raw.get("apiKey")
        needs_key = kind not in {"header", "data"}
        if needs_key != (type(api_key) is int):
            raise self.fail("", f"apiKey must {'' if needs_key else 'not '}be given for a {kind}")
        self.valid = self.versions(raw, "validVersions", "")
        self.flexible = self.versions(raw, "flexibleVersions", "", allow_none=True)
        self.collect_common_structs(raw)
        root = Struct(self.name, self.valid, self.fields(raw, self.valid, ""), "")
        unused = set(self.common) - set(self.structs)
        if unused:
            raise self.fail(f"struct {min(unused)}", "is used by no field")
        return Message(
            name=self.name,
            kind=kind,
            api_key=api_key,
            valid=self.valid,
            flexible=self.flexible & self.valid,
            latest_version_unstable=self.boolean(raw, "latestVersionUnstable", ""),
            listeners=tuple(raw.get("listeners", ())),
            about=self.text(raw, "about", ""),
            history=self.history(raw),
            root=root,
            structs=self.structs,
            source=self.source,
            digest=self.digest,
        )

    # -- attributes ---------------------------------------------------------------------------

    def expect_object(self, raw: Any, path: str, allowed: frozenset[str]) -> None:
        if not isinstance(raw, dict):
            raise self.fail(path, "is not a JSON object")
        for key in raw:
            if key not in allowed:
                raise self.fail(path, f"unknown attribute {key!r}")

    def text(self, raw: dict[str, Any], key: str, path: str) -> str:
        value = raw.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.fail(path, f"needs a text as {key!r}")
        return value

    def boolean(self, raw: dict[str, Any], key: str, path: str) -> bool:
        value = raw.get(key, False)
        if not isinstance(value, bool):
            raise self.fail(path, f"{key!r} is not true or false")
        return value

    def versions(
        self, raw: dict[str, Any], key: str, path: str, *, allow_none: bool = False
    ) -> Versions:
        text = raw.get(key, "none" if allow_none else None)
        if not isinstance(text, str):
            raise self.fail(path, f"needs a version range as {key!r}")
        try:
            return parse_versions(text, allow_none)
        except ValueError as cause:
            raise self.fail(path, f"{key}: {cause}") from None

    def history(self, raw: dict[str, Any]) -> dict[int, str]:
        notes = raw.get("history", {})
        self.expect_object(notes, "history", frozenset(str(v) for v in self.valid))
        return {int(key): self.text(notes, key, "history") for key in notes}

    # -- structs and fields -------------------------------------------------------------------

    def collect_common_structs(self, raw: dict[str, Any]) -> None:
        for entry in raw.get("commonStructs", []):
            self.expect_object(entry, "commonStructs", _STRUCT_ATTRIBUTES)
            name = self.text(entry, "name", "commonStructs")
            if name in self.common or name == self.name:
                raise self.fail(f"struct {name}", "the name is taken")
            self.common[name] = entry
            self.common_versions[name] = self.versions(entry, "versions", f"struct {name}")

    def fields(self, raw: dict[str, Any], outer: Versions, path: str) -> tuple[Field, ...]:
        entries = raw.get("fields")
        if not isinstance(entries, list):
            raise self.fail(path, "needs a list as 'fields'")
        parsed = tuple(self.field(entry, outer, path) for entry in entries)
        self.check_names(parsed, path)
        self.check_tags(parsed, path)
        return parsed

    def check_names(self, fields: tuple[Field, ...], path: str) -> None:
        seen: dict[str, str] = {}
        for each in fields:
            other = seen.setdefault(each.attribute, each.name)
            if other is not each.name:
                raise self.fail(join(path, each.name), f"clashes with the field {other}")

    def check_tags(self, fields: tuple[Field, ...], path: str) -> None:
        owners: dict[int, str] = {}
        for each in fields:
            if each.tag is None:
                continue
            if each.tag in owners:
                raise self.fail(
                    join(path, each.name), f"tag {each.tag} is taken by {owners[each.tag]}"
                )
            owners[each.tag] = each.name
        ordinary = sorted(tag for tag in owners if tag < RESERVED_TAGS_FROM)
        for expected, tag in enumerate(ordinary):
            if tag != expected:
                raise self.fail(join(path, owners[tag]), f"tag {tag} leaves a gap at {expected}")

    def field(self, raw: Any, outer: Versions, parent: str) -> Field:
        if not isinstance(raw, dict):
            raise self.fail(parent, "is not a JSON object")
        name = self.text(raw, "name", parent)
        path = join(parent, name)
        self.expect_object(raw, path, _FIELD_ATTRIBUTES)
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name):
            raise self.fail(path, "a field's name is letters and digits")
        versions = self.versions(raw, "versions", path)
        if not versions & outer & self.valid:
            raise self.fail(path, f"versions {versions} are outside of {outer & self.valid}")
        kind = self.field_type(raw, versions & outer, path)
        nullable = self.versions(raw, "nullableVersions", path, allow_none=True)
        if nullable and isinstance(kind, Primitive) and kind.name not in NULLABLE_PRIMITIVES:
            raise self.fail(path, f"a {kind} cannot be null")
        if nullable and not nullable & versions:
            raise self.fail(path, f"nullableVersions {nullable} lie outside versions {versions}")
        tagged, tag = self.tag(raw, versions, path)
        return Field(
            name=name,
            type=kind,
            versions=versions,
            nullable=nullable & versions,
            tagged=tagged,
            tag=tag,
            default=self.default(raw, kind, nullable, path),
            ignorable=self.boolean(raw, "ignorable", path),
            map_key=self.boolean(raw, "mapKey", path),
            entity_type=raw.get("entityType"),
            flexible=self.versions(raw, "flexibleVersions", path, allow_none=True)
            if "flexibleVersions" in raw
            else None,
            about=self.text(raw, "about", path),
        )

    def tag(
        self, raw: dict[str, Any], versions: Versions, path: str
    ) -> tuple[Versions, int | None]:
        tagged = self.versions(raw, "taggedVersions", path, allow_none=True)
        tag = raw.get("tag")
        if (tag is None) != (not tagged):
            raise self.fail(path, "tag and taggedVersions belong together")
        if tag is None:
            return NO_VERSIONS, None
        if type(tag) is not int or not 0 <= tag < 2**31:
            raise self.fail(path, f"tag {tag!r} is not a number from 0 to {2**31 - 1}")
        if not versions.covers(tagged):
            raise self.fail(path, f"taggedVersions {tagged} go beyond versions {versions}")
        if not self.flexible.covers(tagged & self.valid):
            raise self.fail(path, f"taggedVersions {tagged} are not all flexible")
        if tagged & self.valid != versions & self.valid:
            raise self.fail(path, "a field that is tagged in some of its versions only")
        return tagged, tag

    def field_type(self, raw: dict[str, Any], outer: Versions, path: str) -> FieldType:
        text = self.text(raw, "type", path)
        base = text.removeprefix("[]")
        if base in PRIMITIVES:
            if "fields" in raw:
                raise self.fail(path, f"a {base} has no fields of its own")
            if text != base and base == "records":
                raise self.fail(path, "an array of records")
            element: Primitive | StructType = Primitive(base)
        elif re.fullmatch(r"[A-Z][A-Za-z0-9]*", base):
            self.struct(base, raw, outer, path)
            element = StructType(base)
        else:
            raise self.fail(path, f"unknown type {text!r}")
        return Array(element) if text != base else element

    def struct(self, name: str, raw: dict[str, Any], outer: Versions, path: str) -> None:
        if "fields" in raw:
            if name in self.structs or name in self.common or name == self.name:
                raise self.fail(path, f"the struct name {name} is taken")
            fields = self.fields(raw, outer, path)
            self.structs[name] = Struct(name, outer, fields, raw.get("about", ""))
            return
        if name not in self.common:
            raise self.fail(path, f"unknown type {name!r}: neither fields of its own nor common")
        if name not in self.structs:
            entry = self.common.get(name, {})
            versions = self.common_versions[name]
            if entry.get("_open"):
                raise self.fail(path, f"the struct {name} holds itself")
            self.common[name] = {**entry, "_open": True}
            fields = self.fields(entry, versions, f"struct {name}")
            self.structs[name] = Struct(name, versions, fields, entry.get("about", ""))
            self.common[name] = entry

    # -- defaults -----------------------------------------------------------------------------

    def default(
        self, raw: dict[str, Any], kind: FieldType, nullable: Versions, path: str
    ) -> Default:
        given = raw.get("default")
        if given == "null":
            if not nullable:
                raise self.fail(path, "defaults to null but has no nullableVersions")
            return None
        if not isinstance(kind, Primitive):
            if given is not None:
                raise self.fail(path, f"a {kind} can only default to null")
            return EMPTY
        try:
            return _primitive_default(kind.name, given)
        except (ValueError, TypeError) as cause:
            raise self.fail(path, f"default {given!r}: {cause}") from None


def _primitive_default(kind: str, given: Any) -> Default:
    if kind == "bool":
        if given not in (None, "true", "false", True, False):
            raise ValueError("neither true nor false")
        return given in ("true", True)
    if kind in _INTEGER_RANGES:
        value = int(given, 0) if isinstance(given, str) else int(given or 0)
        low, high = _INTEGER_RANGES[kind]
        if not low <= value <= high:
            raise ValueError(f"outside of {kind}")
        return value
    if kind == "float64":
        return float(given or 0)
    if kind == "string":
        return str(given or "")
    if given not in (None, ""):
        raise ValueError(f"a {kind} can only default to null or be left out")
    return EMPTY


def join(parent: str, name: str) -> str:
    """The path of a field in messages: ``Topics.Partitions``."""
    return f"{parent}.{name}" if parent else name


__all__ = ["MESSAGE_KINDS", "SchemaError", "join", "parse_message", "parse_versions", "snake_case"]
