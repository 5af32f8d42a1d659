"""Our schemas say about every field what Apache Kafka's own definitions say.

What differs on purpose stands in `schema_differences.toml`, each entry with its reason. A
difference that is not there fails, and so does an entry that no longer describes a difference.
Struct names are compared too: they become the names of classes, and so part of users' code.
"""

import copy
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.apache_jars import Definition, definitions, parse
from tests.conformance.golden_peer import PeerUnavailableError

pytestmark = pytest.mark.conformance

ROOT = Path(__file__).parents[2]
SCHEMA_FILES = {
    path.stem: path
    for folder in ("messages", "records")
    for path in sorted((ROOT / "schemas" / folder).glob("*.json"))
}
DIFFERENCES = tomllib.loads(Path(__file__).with_name("schema_differences.toml").read_text())
ABSENT = "absent"
NO_VERSIONS = "none"

# The keys of Kafka's dialect that are compared below, and those that say nothing about the wire:
# texts (the history is ours alone) and a hint to the Java generator. Any other key fails, so that a
# new one gets noticed.
MESSAGE_KEYS = {
    *("apiKey", "type", "name", "listeners", "validVersions", "flexibleVersions"),
    *("latestVersionUnstable", "fields", "commonStructs"),
}
STRUCT_KEYS = {"name", "versions", "fields"}
FIELD_KEYS = {
    *("name", "type", "versions", "nullableVersions", "default", "taggedVersions", "tag"),
    *("ignorable", "mapKey", "entityType", "flexibleVersions", "fields"),
}
KEYS_NOT_COMPARED = {"about", "history", "zeroCopy"}


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """One fact on which the two sides disagree; `field` is a path, empty for the message itself."""

    message: str
    field: str
    fact: str
    ours: str
    apache: str


@dataclass(slots=True)
class Comparison:
    """Walks the two definitions of one message side by side."""

    ours: Definition
    apache: Definition
    found: set[Difference] = field(default_factory=set)
    seen_structs: set[tuple[str, str]] = field(default_factory=set)

    def run(self) -> set[Difference]:
        self._compare("", message_facts(self.ours), message_facts(self.apache))
        self._compare_fields("", self.ours.get("fields", []), self.apache.get("fields", []))
        self._compare_unused_structs()
        return self.found

    def _differ(self, path: str, fact: str, ours: str, apache: str) -> None:
        self.found.add(Difference(self.apache["name"], path, fact, ours, apache))

    def _compare(self, path: str, ours: dict[str, str], apache: dict[str, str]) -> None:
        for fact in ours.keys() | apache.keys():
            mine, theirs = ours.get(fact, ABSENT), apache.get(fact, ABSENT)
            if mine != theirs:
                self._differ(path, fact, mine, theirs)

    def _compare_fields(self, path: str, ours: list[Definition], apache: list[Definition]) -> None:
        mine = {each["name"]: each for each in ours}
        theirs = {each["name"]: each for each in apache}
        for name in mine.keys() - theirs.keys():
            self._differ(join(path, name), "presence", summary(mine[name]), ABSENT)
        for name in theirs.keys() - mine.keys():
            self._differ(join(path, name), "presence", ABSENT, summary(theirs[name]))
        my_order = [each["name"] for each in ours if each["name"] in theirs]
        their_order = [each["name"] for each in apache if each["name"] in mine]
        if my_order != their_order:
            self._differ(path, "order", " ".join(my_order), " ".join(their_order))
        for name in mine.keys() & theirs.keys():
            here = join(path, name)
            self._compare(here, field_facts(mine[name]), field_facts(theirs[name]))
            self._compare_structs(here, mine[name], theirs[name])

    def _compare_structs(self, path: str, ours: Definition, apache: Definition) -> None:
        mine, theirs = struct_name(ours), struct_name(apache)
        if mine is None or theirs is None:
            return  # a difference in type, noted already
        if "fields" not in ours and "fields" not in apache:
            # A common struct on both sides: its fields once, under its own name.
            if (mine, theirs) in self.seen_structs:
                return
            self.seen_structs.add((mine, theirs))
            path = theirs
            my_struct = common_structs(self.ours)[mine]
            their_struct = common_structs(self.apache)[theirs]
            self._compare(path, struct_facts(my_struct), struct_facts(their_struct))
        self._compare_fields(
            path, struct_fields(self.ours, ours), struct_fields(self.apache, apache)
        )

    def _compare_unused_structs(self) -> None:
        """Structs that no field uses have no bytes; they count all the same."""
        mine, theirs = common_structs(self.ours), common_structs(self.apache)
        for name in mine.keys() ^ theirs.keys():
            sides = ("common", ABSENT) if name in mine else (ABSENT, "common")
            self._differ(name, "common struct", *sides)


def message_facts(message: Definition) -> dict[str, str]:
    return {
        "apiKey": str(message.get("apiKey", ABSENT)),
        "type": message["type"],
        "name": message["name"],
        "validVersions": versions(message["validVersions"]),
        "flexibleVersions": versions(message.get("flexibleVersions")),
        "listeners": " ".join(sorted(message.get("listeners", []))) or ABSENT,
        "latestVersionUnstable": boolean(message.get("latestVersionUnstable")),
    }


def struct_facts(struct: Definition) -> dict[str, str]:
    return {"versions": versions(struct["versions"])}


def field_facts(of: Definition) -> dict[str, str]:
    return {
        # Where a struct stands is compared here, what it is called as a fact of its own.
        "type": re.sub(r"[A-Z]\w*$", "struct", of["type"]),
        "struct": struct_name(of) or ABSENT,
        "versions": versions(of.get("versions", of.get("taggedVersions"))),
        "nullableVersions": versions(of.get("nullableVersions")),
        "default": default(of),
        "taggedVersions": versions(of.get("taggedVersions")),
        "tag": str(of.get("tag", ABSENT)),
        "ignorable": boolean(of.get("ignorable")),
        "mapKey": boolean(of.get("mapKey")),
        "entityType": of.get("entityType", ABSENT),
        "flexibleVersions": versions(of["flexibleVersions"])
        if "flexibleVersions" in of
        else ABSENT,
        "struct defined": defined_where(of),
    }


def versions(text: str | None) -> str:
    """A version range in its shortest form."""
    if text is None or text == NO_VERSIONS:
        return NO_VERSIONS
    if text.endswith("+"):
        return f"{int(text[:-1])}+"
    lowest, _, highest = text.partition("-")
    first, last = int(lowest), int(highest or lowest)
    return str(first) if first == last else f"{first}-{last}"


def boolean(value: object) -> str:
    assert value in (None, True, False, "true", "false"), value
    return str(value in (True, "true")).lower()


def default(of: Definition) -> str:
    """The value a field has when it is not sent, in one spelling.

    A default of JSON null is none, as for Kafka's generator, which knows null as the string "null".
    """
    value = of.get("default")
    kind: str = of["type"]
    if kind == "records":
        return "null"  # whatever is said
    if value is None or value == "":
        value = ""
        if kind == "bool":
            return "false"
        if kind == "uuid":
            return "zero"
        if re.fullmatch(r"u?int\d+|float64", kind):
            return "0"
        return "empty"
    if kind == "bool":
        return boolean(value)
    if re.fullmatch(r"u?int\d+", kind):
        return str(int(str(value), 0))
    if kind == "float64":
        return repr(float(value))
    return str(value)


def struct_name(of: Definition) -> str | None:
    match = re.search(r"[A-Z]\w*$", of["type"])
    return match and match.group()


def defined_where(of: Definition) -> str:
    if struct_name(of) is None:
        return ABSENT
    return "in the field" if "fields" in of else "in commonStructs"


def common_structs(message: Definition) -> dict[str, Definition]:
    return {struct["name"]: struct for struct in message.get("commonStructs", [])}


def struct_fields(message: Definition, of: Definition) -> list[Definition]:
    struct = of if "fields" in of else common_structs(message)[str(struct_name(of))]
    fields: list[Definition] = struct["fields"]
    return fields


def summary(of: Definition) -> str:
    """The facts that decide what an extra field does to the wire."""
    text = f"{of['type']} {versions(of.get('versions', of.get('taggedVersions')))}"
    if "tag" in of:
        text += f" tag {of['tag']}"
    return text


def join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def compare(ours: Definition, apache: Definition) -> set[Difference]:
    return Comparison(ours, apache).run()


def unknown_keys(message: Definition) -> set[str]:
    unknown = message.keys() - MESSAGE_KEYS
    structs = message.get("commonStructs", [])
    for struct in structs:
        unknown |= struct.keys() - STRUCT_KEYS
    waiting = [
        *message.get("fields", []),
        *(each for struct in structs for each in struct["fields"]),
    ]
    while waiting:
        each = waiting.pop()
        unknown |= each.keys() - FIELD_KEYS
        waiting.extend(each.get("fields", []))
    return unknown - KEYS_NOT_COMPARED


@pytest.fixture(scope="module")
def apache() -> dict[str, Definition]:
    try:
        return definitions()
    except PeerUnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", sorted(SCHEMA_FILES))
def test_fields_are_as_in_apache_kafka(name: str, apache: dict[str, Definition]) -> None:
    if name not in apache:
        pytest.skip("of our own; see test_messages_are_those_of_apache_kafka")
    found = compare(parse(SCHEMA_FILES[name].read_text()), apache[name])
    explained = {
        Difference(*(entry[key] for key in ("message", "field", "fact", "ours", "apache")))
        for entry in DIFFERENCES.get("difference", [])
        if entry["message"] == name
    }
    assert sorted(found - explained) == [], "not explained in schema_differences.toml"
    assert sorted(explained - found) == [], "explained in schema_differences.toml, but not so"


def test_messages_are_those_of_apache_kafka(apache: dict[str, Definition]) -> None:
    listed = [name for group in DIFFERENCES["missing"] for name in messages_of(group, apache)]
    own = {entry["message"] for entry in DIFFERENCES.get("own", [])}
    assert len(listed) == len(set(listed)), "a message is listed as missing twice"
    assert sorted(apache.keys() - SCHEMA_FILES.keys() - set(listed)) == [], "missing, unexplained"
    assert sorted(set(listed) - apache.keys()) == [], "listed as missing; Apache Kafka has none"
    assert sorted(set(listed) & SCHEMA_FILES.keys()) == [], "listed as missing, but there"
    assert own == SCHEMA_FILES.keys() - apache.keys(), "messages that only we have"


def messages_of(group: dict[str, Any], apache: dict[str, Definition]) -> list[str]:
    """The messages of a group of missing ones; a key that nothing has stands for itself."""
    names: list[str] = list(group.get("messages", []))
    for key in group.get("api_keys", []):
        names.extend(
            [
                name
                for name, message in apache.items()
                if message["type"] in ("request", "response") and message["apiKey"] == key
            ]
            or [f"API key {key}"]
        )
    return names


def test_every_explanation_has_a_reason_and_names_a_message_of_ours() -> None:
    entries = [*DIFFERENCES.get("difference", []), *DIFFERENCES.get("own", [])]
    assert [
        entry for entry in [*entries, *DIFFERENCES["missing"]] if not entry["reason"].strip()
    ] == []
    assert [entry for entry in entries if entry["message"] not in SCHEMA_FILES] == []


def test_every_key_of_the_dialect_is_compared_or_left_out_knowingly(
    apache: dict[str, Definition],
) -> None:
    theirs = {name: unknown_keys(message) for name, message in apache.items()}
    ours = {name: unknown_keys(parse(path.read_text())) for name, path in SCHEMA_FILES.items()}
    assert {name: keys for name, keys in theirs.items() if keys} == {}
    assert {name: keys for name, keys in ours.items() if keys} == {}


# A comparison that never fails proves nothing: one fact at a time is broken in a copy.
SAMPLE: Definition = {
    "apiKey": 1, "type": "request", "name": "Sample", "listeners": ["broker"],
    "validVersions": "0-3", "flexibleVersions": "2+",
    "fields": [
        {"name": "A", "type": "int32", "versions": "0+", "default": "0x7f"},
        {"name": "B", "type": "[]Inner", "versions": "1+",
         "nullableVersions": "1+", "default": "null", "fields": [
            {"name": "C", "type": "string", "versions": "1+", "mapKey": True}]},
        {"name": "D", "type": "Common", "versions": "2+", "taggedVersions": "2+", "tag": 0},
    ],
    "commonStructs": [
        {"name": "Common", "versions": "2+", "fields": [
            {"name": "E", "type": "uuid", "versions": "2+"},
            {"name": "F", "type": "bool", "versions": "2+"}]},
    ],
}  # fmt: skip


def inner(message: Definition) -> Definition:
    struct: Definition = message["fields"][1]
    return struct


def common(message: Definition) -> Definition:
    struct: Definition = message["commonStructs"][0]
    return struct


BREAKS: list[tuple[str, str, Callable[[Definition], Any]]] = [
    ("", "apiKey", lambda m: m.update(apiKey=2)),
    ("", "type", lambda m: m.update(type="response")),
    ("", "name", lambda m: m.update(name="Simple")),
    ("", "listeners", lambda m: m.update(listeners=["broker", "controller"])),
    ("", "validVersions", lambda m: m.update(validVersions="0-4")),
    ("", "flexibleVersions", lambda m: m.update(flexibleVersions="none")),
    ("", "latestVersionUnstable", lambda m: m.update(latestVersionUnstable=True)),
    ("", "order", lambda m: m["fields"].reverse()),
    ("A", "presence", lambda m: m["fields"].pop(0)),
    (
        "G",
        "presence",
        lambda m: m["fields"].append({"name": "G", "type": "int8", "versions": "0+"}),
    ),
    ("A", "type", lambda m: m["fields"][0].update(type="uint32")),
    ("A", "versions", lambda m: m["fields"][0].update(versions="0-3")),
    ("A", "default", lambda m: m["fields"][0].update(default="0x7e")),
    ("A", "default", lambda m: m["fields"][0].pop("default")),
    ("A", "ignorable", lambda m: m["fields"][0].update(ignorable=True)),
    ("A", "entityType", lambda m: m["fields"][0].update(entityType="brokerId")),
    ("A", "flexibleVersions", lambda m: m["fields"][0].update(flexibleVersions="none")),
    ("B", "type", lambda m: inner(m).update(type="Inner")),
    ("B", "type", lambda m: inner(m).update(type="[]int32")),
    ("B", "struct", lambda m: inner(m).update(type="[]Outer")),
    ("B", "nullableVersions", lambda m: inner(m).update(nullableVersions="2+")),
    ("B", "default", lambda m: inner(m).update(default=None)),
    ("B.C", "presence", lambda m: inner(m)["fields"].pop()),
    ("B.C", "mapKey", lambda m: inner(m)["fields"][0].pop("mapKey")),
    ("D", "tag", lambda m: m["fields"][2].update(tag=1)),
    ("D", "taggedVersions", lambda m: m["fields"][2].update(taggedVersions="3+")),
    ("D", "struct defined", lambda m: m["fields"][2].update(fields=common(m)["fields"])),
    ("Common", "versions", lambda m: common(m).update(versions="0+")),
    ("Common", "order", lambda m: common(m)["fields"].reverse()),
    ("Common.E", "type", lambda m: common(m)["fields"][0].update(type="string")),
    ("Spare", "common struct", lambda m: m["commonStructs"].append({**common(m), "name": "Spare"})),
]


@pytest.mark.parametrize(("path", "fact", "break_it"), BREAKS)
def test_a_broken_fact_is_seen(path: str, fact: str, break_it: Callable[[Definition], Any]) -> None:
    broken = copy.deepcopy(SAMPLE)
    break_it(broken)
    found = {(each.field, each.fact) for each in compare(broken, SAMPLE)}
    assert (path, fact) in found
    assert found == {(each.field, each.fact) for each in compare(SAMPLE, broken)}


def test_spellings_that_mean_the_same_are_no_difference() -> None:
    other = copy.deepcopy(SAMPLE)
    other["latestVersionUnstable"] = "false"
    other["about"] = "Another text."
    other["fields"][0]["default"] = 127
    other["fields"][0]["ignorable"] = False
    inner(other)["fields"][0]["default"] = ""
    other["fields"][2].pop("versions")  # the tagged versions stand for them
    common(other)["fields"][1]["default"] = False
    assert compare(other, SAMPLE) == set()
