"""What the schema dialect allows, and what each mistake is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fencepost_protocol.schema.model import Array, Primitive, StructType, Versions, snake_case
from fencepost_protocol.schema.parse import SchemaError, parse_message, parse_versions


def schema(*fields: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    return {
        "apiKey": 26,
        "type": "request",
        "listeners": ["broker"],
        "name": "TestRequest",
        "validVersions": "0-5",
        "flexibleVersions": "3+",
        "about": "For tests.",
        "fields": list(fields),
        **attributes,
    }


def field(name: str = "Name", **attributes: Any) -> dict[str, Any]:
    return {"name": name, "type": "string", "versions": "0+", "about": "A field.", **attributes}


def parse(raw: dict[str, Any]) -> Any:
    return parse_message(json.dumps(raw).encode(), "messages/TestRequest.json")


def test_a_field_carries_all_its_facts() -> None:
    message = parse(
        schema(
            field(
                "Epoch", type="int16", versions="2+", default="-1", ignorable=True,
                entityType="producerEpoch",
            ),
            field("Note", versions="3+", nullableVersions="3+", taggedVersions="3+", tag=0,
                  default="null"),
        )
    )  # fmt: skip
    epoch, note = message.root.fields
    assert epoch.default == -1
    assert epoch.ignorable
    assert epoch.versions == Versions(2, 32767)
    assert epoch.attribute == "epoch"
    assert (note.tag, note.default) == (0, None)
    assert note.nullable.lowest == 3
    assert message.flexible == Versions(3, 5)
    assert (message.base_name, message.module) == ("Test", "test")


def test_structs_are_found_wherever_they_are_defined() -> None:
    message = parse(
        schema(
            field("Topics", type="[]Topic", fields=[field(), field("Owner", type="Owner")]),
            commonStructs=[{"name": "Owner", "versions": "0+", "fields": [field()]}],
        )
    )
    topics = message.root.fields[0]
    assert topics.type == Array(StructType("Topic"))
    assert list(message.structs) == ["Owner", "Topic"], "inner ones come first"
    assert message.structs["Owner"].fields[0].type == Primitive("string")


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (schema(field(colour="red")), "Name: unknown attribute 'colour'"),
        (schema(colour="red"), "message: unknown attribute 'colour'"),
        (schema(field(versions="5-3")), "Name: versions: '5-3' is an empty version range"),
        (schema(field(versions="new")), "Name: versions: 'new' is not a version range"),
        (schema(field(versions="9+")), "Name: versions 9+ are outside of 0-5"),
        (schema(field(), field()), "Name: clashes with the field Name"),
        (schema(field("TopicId"), field("Topic_Id")), "a field's name is letters and digits"),
        (schema(field("TopicID"), field("TopicId")), "TopicId: clashes with the field TopicID"),
        (schema(field(type="int128")), "Name: unknown type 'int128'"),
        (schema(field(type="Owner")), "Name: unknown type 'Owner'"),
        (schema(field(type="int32", nullableVersions="0+")), "Name: a int32 cannot be null"),
        (schema(field(default="null")), "Name: defaults to null but has no nullableVersions"),
        (schema(field(type="int8", default="200")), "Name: default '200': outside of int8"),
        (schema(field(type="int8", default="many")), "Name: default 'many'"),
        (schema(field(type="bool", default="2")), "Name: default '2': neither true nor false"),
        (schema(field(type="[]int8", default="0")), "Name: a []int8 can only default to null"),
        (schema(field(about="")), "Name: needs a text as 'about'"),
        (schema(field(tag=0)), "Name: tag and taggedVersions belong together"),
        (schema(field(versions="2+", tag=0, taggedVersions="2+")), "are not all flexible"),
        (schema(field(tag=0, taggedVersions="3+")), "tagged in some of its versions only"),
        (
            schema(field(versions="3+", tag=1, taggedVersions="3+")),
            "Name: tag 1 leaves a gap at 0",
        ),
        (
            schema(
                field("A", versions="3+", tag=0, taggedVersions="3+"),
                field("B", versions="3+", tag=0, taggedVersions="3+"),
            ),
            "B: tag 0 is taken by A",
        ),
        (schema(field(fields=[])), "Name: a string has no fields of its own"),
        (schema(field(type="[]Topic", fields=[field(colour="red")])), "Name.Name: unknown attr"),
        (
            schema(field("A", type="T", fields=[field()]), field("B", type="T", fields=[field()])),
            "B: the struct name T is taken",
        ),
        (
            schema(commonStructs=[{"name": "Owner", "versions": "0+", "fields": [field()]}]),
            "struct Owner: is used by no field",
        ),
        (
            schema(
                field(type="Loop"),
                commonStructs=[{"name": "Loop", "versions": "0+", "fields": [field(type="Loop")]}],
            ),
            "the struct Loop holds itself",
        ),
        (schema(type="rumour"), "message: type 'rumour' is none of"),
        (schema(name="Other"), "the file should be called Other.json"),
        (schema(apiKey=None), "apiKey must be given for a request"),
        (schema(history={"9": "No such version."}), "history: unknown attribute '9'"),
        (schema(fields="none"), "needs a list as 'fields'"),
    ],
)
def test_a_mistake_is_told_with_file_and_field(raw: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse(raw)
    assert str(caught.value).startswith("messages/TestRequest.json: ")
    assert complaint in str(caught.value)


def test_own_tags_need_no_neighbours() -> None:
    message = parse(schema(field(versions="3+", tag=60900, taggedVersions="3+")))
    assert message.root.fields[0].tag == 60900


@pytest.mark.parametrize("text", ["{", '{"name": 1, "name": 2}'])
def test_what_is_not_json_is_told_with_the_file(text: str) -> None:
    with pytest.raises(SchemaError, match=r"messages/TestRequest\.json: not JSON"):
        parse_message(text.encode(), "messages/TestRequest.json")


def test_version_ranges() -> None:
    assert parse_versions("0-5") & parse_versions("3+") == Versions(3, 5)
    assert not parse_versions("0-2") & parse_versions("3+")
    assert not parse_versions("none")
    assert [str(parse_versions(text)) for text in ("3", "0-5", "9+", "none")] == [
        "3", "0-5", "9+", "none",
    ]  # fmt: skip
    assert parse_versions("0-5").covers(parse_versions("2-3"))
    assert not parse_versions("0-5").covers(parse_versions("2+"))


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("TransactionalId", "transactional_id"),
        ("KRaftVersion", "kraft_version"),
        ("V3AndBelowTopics", "v3_and_below_topics"),
        ("Enable2Pc", "enable2_pc"),
        ("commitTimestamp", "commit_timestamp"),
    ],
)
def test_python_names(name: str, snake: str) -> None:
    assert snake_case(name) == snake
