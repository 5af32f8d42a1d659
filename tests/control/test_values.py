"""Values of records by the user's schema: what is decoded, and what hostile files and bytes do."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import pytest
from fencepost_broker.server.control.values.__main__ import read_schema
from fencepost_broker.server.control.values.model import (
    TEXT_MAX,
    DecodedValues,
    SchemaRefusedError,
    ValuesToDecode,
)
from fencepost_broker.server.control.values.process import decode
from fencepost_broker.server.control.values.protobuf import ProtobufSchema, compiled

from tests.control.harness import controlled
from tests.support.order_schemas import AVSC, PAPER, PREFIX, PROTO, avro


def asked(file: str, schema: bytes, *values: bytes, **options: Any) -> DecodedValues:
    seconds = options.pop("cpu_seconds", 10)
    given = ValuesToDecode(file=file, schema=schema, values=list(values), **options)
    return decode(given, cpu_seconds=seconds)


def texts(decoded: DecodedValues) -> list[Any]:
    return [each.text and json.loads(each.text) for each in decoded.values]


def refused(file: str, schema: bytes, **options: Any) -> str:
    with pytest.raises(SchemaRefusedError) as told:
        asked(file, schema, b"", **options)
    return f"{told.value}. {told.value.refused.advice}"


def test_avro_is_decoded_with_and_without_the_id_of_a_schema() -> None:
    cut, long = avro()[:3], avro() + b"x"
    decoded = asked("order.avsc", AVSC, avro(), PREFIX + avro(None), cut, long, b"")
    order = {"id": 5, "at": "2026-01-02 00:00:00+00:00", "raw": "ff 00", "note": "two"}
    assert texts(decoded) == [order, order | {"note": None}, None, None, None]
    assert [each.schema_id for each in decoded.values] == [None, 7, None, None, None]
    problems = [each.problem for each in decoded.values]
    assert problems[:2] == ["", ""]
    assert "ends too early" in problems[2]
    assert "1 bytes are left" in problems[3]
    assert decoded.types == ["shop.Order"]
    framed = asked("order.avsc", AVSC, avro(), PREFIX + avro(), framing="registry")
    assert [each.schema_id for each in framed.values] == [None, 7]
    assert "does not begin with a byte 0" in framed.values[0].problem
    [plain] = asked("order.avsc", AVSC, PREFIX + avro(), framing="plain").values
    assert plain.text is None


def test_protobuf_is_decoded_by_a_type_or_by_the_message_index() -> None:
    nested = PREFIX + b"\x04\x00\x00\x18\x09"
    decoded = asked("shop.proto", PROTO, b"\x0a\x01A", PREFIX + b"\x02\x02" + PAPER, nested)
    order = {"id": "5", "items": {"paper": 2}}
    assert texts(decoded) == [{"name": "A"}, order, {"zip": 9}]
    found = [(each.type, each.schema_id) for each in decoded.values]
    assert found == [("shop.Customer", None), ("shop.Order", 7), ("shop.Customer.Address", 7)]
    assert decoded.types == ["shop.Customer", "shop.Customer.Address", "shop.Order"]
    first = PREFIX + b"\x00\x0a\x01A"
    chosen = asked("shop.proto", PROTO, PAPER, b"\xff", nested, type="shop.Order")
    assert texts(chosen) == [order, None, {}]
    assert "has no field 3 of this kind" in chosen.values[2].problem
    assert "it is not shop.Order" in chosen.values[1].problem
    wrong = asked("shop.proto", PROTO, PAPER, first, PREFIX + b"\x02\x08", PREFIX + b"\x02")
    assert "shop.Customer has no field 1, 3 of" in wrong.values[0].problem
    assert texts(wrong)[1] == {"name": "A"}
    assert "message index" in wrong.values[2].problem
    assert "message index" in wrong.values[3].problem


def test_a_descriptor_set_may_leave_out_what_the_library_has() -> None:
    from google.protobuf import descriptor_pb2

    given = descriptor_pb2.FileDescriptorSet.FromString(compiled(PROTO))
    own = descriptor_pb2.FileDescriptorSet(file=[given.file[-1]])
    decoded = asked("shop.desc", own.SerializeToString(), PAPER, type="shop.Order")
    assert texts(decoded) == [{"id": "5", "items": {"paper": 2}}]
    own.file[0].dependency.append("own.proto")
    with pytest.raises(SchemaRefusedError, match=r"own\.proto"):
        ProtobufSchema(own.SerializeToString(), is_source=False)


@pytest.mark.parametrize(
    ("file", "schema", "why"),
    [
        ("a.avsc", b"no JSON", "it is not JSON"),
        ("a.avsc", b"\xff", "it is not JSON"),
        ("a.avsc", b"[" * 100_000, "nested too deeply"),
        ("a.avsc", b'{"type":"array","items":"Nothing"}', "Nothing"),
        ("a.avsc", b"7", "it is not an Avro schema"),
        ("a.proto", b"message {", "schema.proto:1:9"),
        ("a.proto", b'syntax = "proto3"; import "/etc/passwd";', "--include_imports"),
        ("a.proto", b"", "no message type"),
        ("a.desc", b"", "no message type"),
        ("a.desc", b"\xff\xff", "not a complete descriptor set"),
    ],
    ids=lambda given: given if isinstance(given, str) else len(given),
)
def test_a_hostile_schema_is_refused_with_its_reason(file: str, schema: bytes, why: str) -> None:
    with pytest.raises(SchemaRefusedError) as told:
        read_schema(ValuesToDecode(file=file, schema=schema))
    assert why in f"{told.value}. {told.value.refused.advice}"


def test_a_schema_that_crashes_the_compiler_ends_its_process() -> None:
    """Versions of protoc differ: some have a limit, others overflow their stack."""
    told = refused("a.proto", b"message A {" * 100_000)
    assert "recursion limit" in told or "crashes" in told


def test_a_type_that_a_file_does_not_have_is_refused_with_the_nearest_name() -> None:
    assert "shop.Order" in refused("shop.proto", PROTO, type="shop.Ordre")


def test_bytes_that_take_too_long_end_the_process_and_not_the_values_before_them() -> None:
    """An array of 2**62 nulls takes no bytes."""
    endless = b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"
    schema = b'{"type":"array","items":"null"}'
    decoded = asked("nulls.avsc", schema, b"\x00", endless, b"\x00", cpu_seconds=1)
    assert [each.text for each in decoded.values] == ["[]", None, None]
    assert "takes more than 1 seconds or too much memory" in decoded.values[1].problem
    assert "not tried" in decoded.values[2].problem


def test_a_process_that_is_too_late_is_ended() -> None:
    given = ValuesToDecode(file="order.avsc", schema=AVSC, values=[avro()])
    with pytest.raises(SchemaRefusedError, match="longer than 0 seconds"):
        decode(given, seconds=0)


def test_a_long_text_is_cut() -> None:
    [decoded] = asked("order.avsc", AVSC, avro("x" * 2 * TEXT_MAX)).values
    assert decoded.text is not None
    assert len(decoded.text) <= TEXT_MAX + 4


@pytest.mark.parametrize(
    ("file", "module"),
    [("a.avsc", "fastavro"), ("a.desc", "google.protobuf"), ("a.proto", "grpc_tools")],
)
def test_what_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, file: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    told = refused(file, AVSC)
    assert "which is not installed. pip install 'fencepost[schemas]'." in told


@pytest.mark.asyncio
async def test_the_control_port_decodes_and_says_which_file_is_wrong() -> None:
    body = {
        "file": "order.avsc",
        "schema": base64.b64encode(AVSC).decode(),
        "values": [base64.b64encode(PREFIX + avro()).decode()],
    }
    async with controlled() as it:
        [value] = (await it.ask("POST", "/v1/decoded-values", body))["values"]
        wrong = await it.ask("POST", "/v1/decoded-values", body | {"schema": "AAAA"}, expect=422)
    assert (value["type"], value["schema_id"], json.loads(value["text"])["id"]) == (
        "shop.Order", 7, 5,
    )  # fmt: skip
    assert wrong["detail"].startswith("order.avsc: it is not JSON")
