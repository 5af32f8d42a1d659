"""What is asked of the process that decodes values, and what it answers."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

VALUES_MAX: Final = 500
TEXT_MAX: Final = 1 << 16
"""A longer text is cut."""
TEXTS_MAX: Final = 1 << 23
"""Of all texts together."""


class ValuesToDecode(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A schema, and values of records. Bytes are in base64."""

    file: Annotated[
        str,
        Meta(
            description="the schema file's name: .avsc is an Avro schema, .proto is Protobuf, and"
            " others are Protobuf's descriptor sets"
        ),
    ]
    schema: Annotated[bytes, Meta(description="the schema file's content")]
    type: Annotated[
        str,
        Meta(description="the full name of the message type; empty: the first one in a file"),
    ] = ""
    framing: Annotated[
        Literal["auto", "plain", "registry"],
        Meta(
            description="registry: values begin with a byte 0 and the id of a schema, as those of"
            " Confluent's serializers do; auto: those that can be read so"
        ),
    ] = "auto"
    values: Annotated[list[bytes], Meta(max_length=VALUES_MAX)] = []


class DecodedValue(Struct, frozen=True):
    """A value, or why it has none."""

    text: Annotated[
        str | None,
        Meta(description=f"as JSON, its first {TEXT_MAX:,} characters; null: there is a problem"),
    ]
    type: str = ""
    schema_id: Annotated[
        int | None, Meta(description="the id in the registry that stands before the value")
    ] = None
    problem: Annotated[str, Meta(description="why it cannot be decoded, or what is odd")] = ""


class DecodedValues(Struct, frozen=True):
    """The types that a schema file has, and values in the order in which they were given."""

    types: list[str]
    values: list[DecodedValue]


class SchemaRefused(Struct, frozen=True):
    """Why a schema file cannot be used."""

    detail: str
    advice: str = ""


class SchemaRefusedError(Exception):
    """A schema file that cannot be used."""

    def __init__(self, detail: str, advice: str = "") -> None:
        super().__init__(detail)
        self.refused = SchemaRefused(detail, advice)


class UndecodableError(Exception):
    """A value that is not what its schema says."""
