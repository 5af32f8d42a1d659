"""What clients hear of the controller's APIs when the controller has not answered in time."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.apis.controller.from_clients import IN_ENVELOPES
from fencepost_broker.apis.error_responses import has_answer, timed_out
from fencepost_broker.apis.request import Request
from fencepost_protocol.apis import Message, request_class, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import api_key_of, encode_request, read_request_head
from fencepost_protocol.generated import alter_client_quotas as quotas
from fencepost_protocol.generated import alter_partition_reassignments as reassignments
from fencepost_protocol.generated import alter_user_scram_credentials as users
from fencepost_protocol.generated import create_partitions, create_topics, delete_topics
from fencepost_protocol.generated import elect_leaders as elections
from fencepost_protocol.generated import incremental_alter_configs as configs
from fencepost_protocol.generated import list_partition_reassignments as listing
from fencepost_protocol.generated.index import ApiKey

CODE = ErrorCode.REQUEST_TIMED_OUT
WORDS = "not in time"


def answer(message: Message, version: int) -> Any:
    """The answer as it arrives."""
    frame = memoryview(encode_request(message, version, 5, "test"))[4:]
    key, read_version, _, _, body = read_request_head(frame)
    peer: Any = None
    request = Request(peer, key, read_version, 5, "test", frame, body)
    out = bytearray()
    timed_out(request, WORDS).encode(version, out)
    return response_class(api_key_of(message)).decode(memoryview(out), version, 0)[0]


@pytest.mark.parametrize("key", sorted(each.key for each in IN_ENVELOPES.values()))
def test_all_that_is_passed_on_has_an_answer(key: ApiKey) -> None:
    assert has_answer(key)
    kind = request_class(key)
    for version in range(kind.MIN_VERSION, kind.MAX_VERSION + 1):
        answer(kind(), version)


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
