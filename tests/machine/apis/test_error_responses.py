"""The response to a request that is refused as a whole, or was not answered in time."""

from __future__ import annotations

import random
from typing import Any

import pytest
from fencepost_broker.apis.controller.from_clients import IN_ENVELOPES
from fencepost_broker.apis.error_responses import refused, timed_out
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.served import Served
from fencepost_protocol.apis import Message, request_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import api_key_of, encode_request
from fencepost_protocol.generated import alter_client_quotas as quotas
from fencepost_protocol.generated import alter_partition_reassignments as reassignments
from fencepost_protocol.generated import alter_user_scram_credentials as users
from fencepost_protocol.generated import create_partitions, create_topics, delete_topics, produce
from fencepost_protocol.generated import elect_leaders as elections
from fencepost_protocol.generated import incremental_alter_configs as configs
from fencepost_protocol.generated import list_partition_reassignments as listing
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.schema import files
from fencepost_protocol.schema.model import Array, Field, Primitive

from tests.support.plausible_messages import PlausibleMaker

CODE = ErrorCode.REQUEST_TIMED_OUT
WORDS = "not in time"
ID = b"i" * 16
REFUSABLE = [each for each in SERVED if each.key is not ApiKey.DESCRIBE_GROUPS]
"""DescribeGroups is never refused as a whole, and has messages in its last version only."""


def answer(message: Message, version: int) -> Any:
    """The answer as it arrives."""
    frame = memoryview(encode_request(message, version, 5, "test"))[4:]
    api = IN_ENVELOPES[api_key_of(message)]
    return as_it_arrives(timed_out(api, frame, WORDS), version)


def as_it_arrives(response: Message, version: int) -> Any:
    out = bytearray()
    response.encode(version, out)
    return type(response).decode(memoryview(out), version, 0)[0]


def errors_in(response: Any) -> set[str]:
    """The fields in which a response has the error, by their paths."""
    found = set()
    for name in response.__slots__:
        value = getattr(response, name)
        if isinstance(value, list):
            inside = [each for each in value if hasattr(each, "__slots__")]
            found |= {f"{name}.{path}" for each in inside for path in errors_in(each)}
        elif name.endswith("error_code") and value == CODE:
            found.add(name)
    return found


class OneOfEach(PlausibleMaker):
    """Makes requests whose lists have one element each."""

    def value(self, field: Field, version: int) -> Any:
        if isinstance(field.type, Array):
            element = field.type.element
            if isinstance(element, Primitive):
                return [self._primitive(element.name)]
            return [self._one(element.name, version)]
        return super().value(field, version)


@pytest.mark.parametrize("api", REFUSABLE, ids=lambda api: api.key.name)
def test_each_version_of_a_refused_request_is_answered_with_the_error(api: Served) -> None:
    maker = OneOfEach(files.load(request_class(api.key).NAME), random.Random(5))
    for version in range(api.accepted[0], api.accepted[1] + 1):
        response = as_it_arrives(refused(api, maker.make(version), version, CODE, WORDS), version)
        assert errors_in(response), f"{api.key.name} {version} has no place for an error"


@pytest.mark.parametrize(
    ("key", "version", "paths"),
    [
        (ApiKey.PRODUCE, 12, {"responses.partition_responses.error_code"}),
        (ApiKey.CREATE_TOPICS, 7, {"topics.error_code"}),
        (ApiKey.ELECT_LEADERS, 0, {"replica_election_results.partition_result.error_code"}),
        (
            ApiKey.ELECT_LEADERS,
            2,
            {"error_code", "replica_election_results.partition_result.error_code"},
        ),
        (ApiKey.OFFSET_FETCH, 1, {"topics.partitions.error_code"}),
        (ApiKey.OFFSET_FETCH, 7, {"error_code"}),
        (ApiKey.OFFSET_FETCH, 10, {"groups.error_code"}),
        (
            ApiKey.ADD_PARTITIONS_TO_TXN,
            3,
            {"results_by_topic_v3_and_below.results_by_partition.partition_error_code"},
        ),
        (
            ApiKey.ADD_PARTITIONS_TO_TXN,
            4,
            {
                "error_code",
                "results_by_transaction.topic_results.results_by_partition.partition_error_code",
            },
        ),
        (ApiKey.DESCRIBE_QUORUM, 2, {"error_code"}),
        (ApiKey.UPDATE_FEATURES, 2, {"error_code"}),
        (ApiKey.LEAVE_GROUP, 5, {"error_code"}),
    ],
)
def test_the_error_stands_at_the_outermost_place_of_a_version(
    key: ApiKey, version: int, paths: set[str]
) -> None:
    (api,) = (each for each in SERVED if each.key is key)
    maker = OneOfEach(files.load(request_class(key).NAME), random.Random(5))
    response = as_it_arrives(refused(api, maker.make(version), version, CODE, WORDS), version)
    assert errors_in(response) == paths


def test_what_is_not_known_is_told_so() -> None:
    partition = produce.PartitionProduceData(3, b"")
    asked = produce.ProduceRequest(topic_data=[produce.TopicProduceData("t", ID, [partition])])
    (api,) = (each for each in SERVED if each.key is ApiKey.PRODUCE)
    for version, name, topic_id in ((12, "t", bytes(16)), (13, "", ID)):
        (topic,) = as_it_arrives(refused(api, asked, version, CODE, WORDS), version).responses
        (told,) = topic.partition_responses
        assert (topic.name, topic.topic_id, told.index) == (name, topic_id, 3)
        assert (told.base_offset, told.error_message) == (-1, WORDS)
    created = create_topics.CreateTopicsRequest([create_topics.CreatableTopic("t", 5, 3)])
    (told,) = answer(created, 7).topics
    assert (told.num_partitions, told.replication_factor, told.configs) == (-1, -1, [])


def test_topics() -> None:
    asked: Any = create_topics.CreateTopicsRequest([create_topics.CreatableTopic("t", 1, 1)])
    (created,) = answer(asked, 7).topics
    assert (created.name, created.error_code, created.error_message) == ("t", CODE, WORDS)
    topic_id = b"i" * 16
    asked = delete_topics.DeleteTopicsRequest([delete_topics.DeleteTopicState(None, topic_id)])
    (deleted,) = answer(asked, 6).responses
    assert (deleted.name, deleted.topic_id, deleted.error_code) == (None, topic_id, CODE)
    asked = delete_topics.DeleteTopicsRequest(topic_names=["t"])
    (deleted,) = answer(asked, 5).responses
    assert (deleted.name, deleted.error_code) == ("t", CODE)
    topics = [create_partitions.CreatePartitionsTopic("t", 3)]
    (grown,) = answer(create_partitions.CreatePartitionsRequest(topics), 3).results
    assert (grown.name, grown.error_code) == ("t", CODE)


def test_settings_quotas_and_users() -> None:
    asked: Any = configs.IncrementalAlterConfigsRequest([configs.AlterConfigsResource(2, "t")])
    (altered,) = answer(asked, 1).responses
    assert (altered.resource_type, altered.resource_name, altered.error_code) == (2, "t", CODE)
    entity = [quotas.AlterClientQuotasRequestEntityData("user", None)]
    asked = quotas.AlterClientQuotasRequest([quotas.AlterClientQuotasRequestEntryData(entity)])
    (entry,) = answer(asked, 1).entries
    assert (entry.error_code, entry.entity[0].entity_type) == (CODE, "user")
    deletions = [users.ScramCredentialDeletion("u", 1), users.ScramCredentialDeletion("u", 2)]
    (user,) = answer(users.AlterUserScramCredentialsRequest(deletions), 0).results
    assert (user.user, user.error_code) == ("u", CODE)


def test_partitions() -> None:
    asked: Any = elections.ElectLeadersRequest(0, [elections.TopicPartitions("t", [1])])
    told = answer(asked, 2)
    assert told.error_code == CODE
    assert told.replica_election_results[0].partition_result[0].error_code == CODE
    partitions = [reassignments.ReassignablePartition(1)]
    topics = [reassignments.ReassignableTopic("t", partitions)]
    told = answer(reassignments.AlterPartitionReassignmentsRequest(topics=topics), 1)
    assert (told.error_code, told.responses[0].partitions[0].error_code) == (CODE, CODE)
    named = [listing.ListPartitionReassignmentsTopics("t", [1])]
    told = answer(listing.ListPartitionReassignmentsRequest(topics=named), 0)
    assert (told.error_code, told.topics[0].name) == (CODE, "t")
