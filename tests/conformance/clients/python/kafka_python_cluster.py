"""What only administrators ask, through kafka-python."""

from kafka import KafkaAdminClient, TopicPartition, errors

from tests.conformance.clients.python.checks import Script, expect, record
from tests.conformance.clients.python.kafka_python_helpers import create_topic, produce

PREFERRED = 0


def cluster(script: Script) -> None:
    client = KafkaAdminClient(bootstrap_servers=script.bootstrap)
    topic = script.name("cluster")
    try:
        create_topic(client, topic, 1)
        produce(script, topic, [(0, record(i)) for i in range(5)], enable_idempotence=True)
        (broker,) = client.describe_cluster()["brokers"]
        run(script, client, topic, broker["broker_id"])
    finally:
        client.close()


def run(script: Script, client: KafkaAdminClient, topic: str, broker: int) -> None:
    with script.check("describe-features"):
        feature = client.describe_features()["metadata.version"]
        expect({"supported", "finalized"} <= feature.keys(), True, "supported and finalized")
        expect(feature["finalized_epoch"] is not None, True, "there is an epoch")
    with script.check("describe-quorum"):
        (partition,) = client.describe_metadata_quorum()["topics"][0]["partitions"]
        expect(partition["error"], None, "the error")
        expect(partition["leader_id"], broker, "the leader")
        voters = [voter["replica_id"] for voter in partition["current_voters"]]
        expect(voters, [broker], "the voters")
    with script.check("elect-leaders"):
        unknown = script.name("unknown")
        asked = {topic: [0], unknown: [0]}
        answer = client.elect_leaders(PREFERRED, asked, raise_errors=False)
        codes = {
            result.topic: result.partition_result[0].error_code
            for result in answer.replica_election_results
        }
        expect(codes[topic], errors.ElectionNotNeededError.errno, "the error of the topic")
        expect(codes[unknown], errors.UnknownTopicOrPartitionError.errno, "of no topic")
    with script.check("describe-producers"):
        place = TopicPartition(topic, 0)
        (producer,) = client.describe_producers([place])[place].active_producers
        expect(producer.last_sequence, 4, "the last sequence number")
        expect(producer.current_transaction_start_offset, -1, "the open transaction's offset")
    with script.check("list-config-resources"):
        listed = client.list_config_resources(["TOPIC"])
        names = [name for names in listed.values() for name in names]
        expect(topic in names, True, "the topic is among the resources")
    with script.check("alter-replica-log-dirs"):
        moved = client.alter_replica_log_dirs({(topic, 0, broker): "/no/such/folder"})
        expect(list(moved.values()), [errors.LogDirNotFoundError], "the errors")
