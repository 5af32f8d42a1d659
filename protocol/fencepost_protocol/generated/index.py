# Generated from schemas/messages and schemas/records
# by python -m fencepost_protocol.codegen. Do not edit.
"""Every message by name, every API by key; modules are imported on first use."""

from enum import IntEnum


class ApiKey(IntEnum):
    """The number that opens a request's header."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    CREATE_DELEGATION_TOKEN = 38
    RENEW_DELEGATION_TOKEN = 39
    EXPIRE_DELEGATION_TOKEN = 40
    DESCRIBE_DELEGATION_TOKEN = 41
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    DESCRIBE_QUORUM = 55
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    FETCH_SNAPSHOT = 59
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    BROKER_REGISTRATION = 62
    BROKER_HEARTBEAT = 63
    UNREGISTER_BROKER = 64
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69
    CONTROLLER_REGISTRATION = 70
    GET_TELEMETRY_SUBSCRIPTIONS = 71
    PUSH_TELEMETRY = 72
    ASSIGN_REPLICAS_TO_DIRS = 73
    LIST_CONFIG_RESOURCES = 74
    DESCRIBE_TOPIC_PARTITIONS = 75
    SHARE_GROUP_HEARTBEAT = 76
    SHARE_GROUP_DESCRIBE = 77
    SHARE_FETCH = 78
    SHARE_ACKNOWLEDGE = 79
    ADD_RAFT_VOTER = 80
    REMOVE_RAFT_VOTER = 81
    UPDATE_RAFT_VOTER = 82
    INITIALIZE_SHARE_GROUP_STATE = 83
    READ_SHARE_GROUP_STATE = 84
    WRITE_SHARE_GROUP_STATE = 85
    DELETE_SHARE_GROUP_STATE = 86
    READ_SHARE_GROUP_STATE_SUMMARY = 87
    STREAMS_GROUP_HEARTBEAT = 88
    STREAMS_GROUP_DESCRIBE = 89
    DESCRIBE_SHARE_GROUP_OFFSETS = 90
    ALTER_SHARE_GROUP_OFFSETS = 91
    DELETE_SHARE_GROUP_OFFSETS = 92


# key: (module, valid versions, flexible from, latest unstable, listeners)
APIS: dict[int, tuple[str, int, int, int | None, bool, tuple[str, ...]]] = {
    0: ("Produce", 3, 13, 9, False, ("broker",)),
    1: ("Fetch", 4, 18, 12, False, ("broker", "controller")),
    2: ("ListOffsets", 1, 11, 6, False, ("broker",)),
    3: ("Metadata", 0, 13, 9, False, ("broker",)),
    8: ("OffsetCommit", 2, 10, 8, False, ("broker",)),
    9: ("OffsetFetch", 1, 10, 6, False, ("broker",)),
    10: ("FindCoordinator", 0, 6, 3, False, ("broker",)),
    11: ("JoinGroup", 0, 9, 6, False, ("broker",)),
    12: ("Heartbeat", 0, 4, 4, False, ("broker",)),
    13: ("LeaveGroup", 0, 5, 4, False, ("broker",)),
    14: ("SyncGroup", 0, 5, 4, False, ("broker",)),
    15: ("DescribeGroups", 0, 6, 5, False, ("broker",)),
    16: ("ListGroups", 0, 5, 3, False, ("broker",)),
    17: ("SaslHandshake", 0, 1, None, False, ("broker", "controller")),
    18: ("ApiVersions", 0, 4, 3, False, ("broker", "controller")),
    19: ("CreateTopics", 2, 7, 5, False, ("broker", "controller")),
    20: ("DeleteTopics", 1, 6, 4, False, ("broker", "controller")),
    21: ("DeleteRecords", 0, 2, 2, False, ("broker",)),
    22: ("InitProducerId", 0, 6, 2, True, ("broker",)),
    23: ("OffsetForLeaderEpoch", 2, 4, 4, False, ("broker",)),
    24: ("AddPartitionsToTxn", 0, 5, 3, False, ("broker",)),
    25: ("AddOffsetsToTxn", 0, 4, 3, False, ("broker",)),
    26: ("EndTxn", 0, 5, 3, False, ("broker",)),
    27: ("WriteTxnMarkers", 1, 2, 1, False, ("broker",)),
    28: ("TxnOffsetCommit", 0, 5, 3, False, ("broker",)),
    29: ("DescribeAcls", 1, 3, 2, False, ("broker", "controller")),
    30: ("CreateAcls", 1, 3, 2, False, ("broker", "controller")),
    31: ("DeleteAcls", 1, 3, 2, False, ("broker", "controller")),
    32: ("DescribeConfigs", 1, 4, 4, False, ("broker", "controller")),
    33: ("AlterConfigs", 0, 2, 2, False, ("broker", "controller")),
    34: ("AlterReplicaLogDirs", 1, 2, 2, False, ("broker",)),
    35: ("DescribeLogDirs", 1, 5, 2, False, ("broker",)),
    36: ("SaslAuthenticate", 0, 2, 2, False, ("broker", "controller")),
    37: ("CreatePartitions", 0, 3, 2, False, ("broker", "controller")),
    38: ("CreateDelegationToken", 1, 3, 2, False, ("broker", "controller")),
    39: ("RenewDelegationToken", 1, 2, 2, False, ("broker", "controller")),
    40: ("ExpireDelegationToken", 1, 2, 2, False, ("broker", "controller")),
    41: ("DescribeDelegationToken", 1, 3, 2, False, ("broker", "controller")),
    42: ("DeleteGroups", 0, 2, 2, False, ("broker",)),
    43: ("ElectLeaders", 0, 2, 2, False, ("broker", "controller")),
    44: ("IncrementalAlterConfigs", 0, 1, 1, False, ("broker", "controller")),
    45: ("AlterPartitionReassignments", 0, 1, 0, False, ("broker", "controller")),
    46: ("ListPartitionReassignments", 0, 0, 0, False, ("broker", "controller")),
    47: ("OffsetDelete", 0, 0, None, False, ("broker",)),
    48: ("DescribeClientQuotas", 0, 1, 1, False, ("broker",)),
    49: ("AlterClientQuotas", 0, 1, 1, False, ("broker", "controller")),
    50: ("DescribeUserScramCredentials", 0, 0, 0, False, ("broker", "controller")),
    51: ("AlterUserScramCredentials", 0, 0, 0, False, ("broker", "controller")),
    55: ("DescribeQuorum", 0, 2, 0, False, ("broker", "controller")),
    56: ("AlterPartition", 2, 3, 2, False, ("controller",)),
    57: ("UpdateFeatures", 0, 2, 0, False, ("broker", "controller")),
    58: ("Envelope", 0, 0, 0, False, ("controller",)),
    59: ("FetchSnapshot", 0, 1, 0, False, ("controller",)),
    60: ("DescribeCluster", 0, 2, 0, False, ("broker", "controller")),
    61: ("DescribeProducers", 0, 0, 0, False, ("broker",)),
    62: ("BrokerRegistration", 0, 4, 0, False, ("controller",)),
    63: ("BrokerHeartbeat", 0, 2, 0, False, ("controller",)),
    64: ("UnregisterBroker", 0, 0, 0, False, ("broker", "controller")),
    65: ("DescribeTransactions", 0, 0, 0, False, ("broker",)),
    66: ("ListTransactions", 0, 2, 0, False, ("broker",)),
    67: ("AllocateProducerIds", 0, 0, 0, False, ("controller",)),
    68: ("ConsumerGroupHeartbeat", 0, 1, 0, False, ("broker",)),
    69: ("ConsumerGroupDescribe", 0, 1, 0, False, ("broker",)),
    70: ("ControllerRegistration", 0, 0, 0, False, ("controller",)),
    71: ("GetTelemetrySubscriptions", 0, 0, 0, False, ("broker",)),
    72: ("PushTelemetry", 0, 0, 0, False, ("broker",)),
    73: ("AssignReplicasToDirs", 0, 0, 0, False, ("controller",)),
    74: ("ListConfigResources", 0, 1, 0, False, ("broker",)),
    75: ("DescribeTopicPartitions", 0, 0, 0, False, ("broker",)),
    76: ("ShareGroupHeartbeat", 1, 1, 1, False, ("broker",)),
    77: ("ShareGroupDescribe", 1, 1, 1, False, ("broker",)),
    78: ("ShareFetch", 1, 2, 1, False, ("broker",)),
    79: ("ShareAcknowledge", 1, 2, 1, False, ("broker",)),
    80: ("AddRaftVoter", 0, 1, 0, False, ("controller", "broker")),
    81: ("RemoveRaftVoter", 0, 0, 0, False, ("controller", "broker")),
    82: ("UpdateRaftVoter", 0, 0, 0, False, ("controller",)),
    83: ("InitializeShareGroupState", 0, 0, 0, False, ("broker",)),
    84: ("ReadShareGroupState", 0, 0, 0, False, ("broker",)),
    85: ("WriteShareGroupState", 0, 1, 0, False, ("broker",)),
    86: ("DeleteShareGroupState", 0, 0, 0, False, ("broker",)),
    87: ("ReadShareGroupStateSummary", 0, 1, 0, False, ("broker",)),
    88: ("StreamsGroupHeartbeat", 0, 0, 0, False, ("broker",)),
    89: ("StreamsGroupDescribe", 0, 0, 0, False, ("broker",)),
    90: ("DescribeShareGroupOffsets", 0, 1, 0, False, ("broker",)),
    91: ("AlterShareGroupOffsets", 0, 0, 0, False, ("broker",)),
    92: ("DeleteShareGroupOffsets", 0, 0, 0, False, ("broker",)),
}

MODULES: dict[str, str] = {
    "AbortTransactionRecord": "abort_transaction_record",
    "AccessControlEntryRecord": "access_control_entry_record",
    "AddOffsetsToTxnRequest": "add_offsets_to_txn",
    "AddOffsetsToTxnResponse": "add_offsets_to_txn",
    "AddPartitionsToTxnRequest": "add_partitions_to_txn",
    "AddPartitionsToTxnResponse": "add_partitions_to_txn",
    "AddRaftVoterRequest": "add_raft_voter",
    "AddRaftVoterResponse": "add_raft_voter",
    "AllocateProducerIdsRequest": "allocate_producer_ids",
    "AllocateProducerIdsResponse": "allocate_producer_ids",
    "AlterClientQuotasRequest": "alter_client_quotas",
    "AlterClientQuotasResponse": "alter_client_quotas",
    "AlterConfigsRequest": "alter_configs",
    "AlterConfigsResponse": "alter_configs",
    "AlterPartitionReassignmentsRequest": "alter_partition_reassignments",
    "AlterPartitionReassignmentsResponse": "alter_partition_reassignments",
    "AlterPartitionRequest": "alter_partition",
    "AlterPartitionResponse": "alter_partition",
    "AlterReplicaLogDirsRequest": "alter_replica_log_dirs",
    "AlterReplicaLogDirsResponse": "alter_replica_log_dirs",
    "AlterShareGroupOffsetsRequest": "alter_share_group_offsets",
    "AlterShareGroupOffsetsResponse": "alter_share_group_offsets",
    "AlterUserScramCredentialsRequest": "alter_user_scram_credentials",
    "AlterUserScramCredentialsResponse": "alter_user_scram_credentials",
    "ApiVersionsRequest": "api_versions",
    "ApiVersionsResponse": "api_versions",
    "AssignReplicasToDirsRequest": "assign_replicas_to_dirs",
    "AssignReplicasToDirsResponse": "assign_replicas_to_dirs",
    "BeginTransactionRecord": "begin_transaction_record",
    "BrokerHeartbeatRequest": "broker_heartbeat",
    "BrokerHeartbeatResponse": "broker_heartbeat",
    "BrokerRegistrationChangeRecord": "broker_registration_change_record",
    "BrokerRegistrationRequest": "broker_registration",
    "BrokerRegistrationResponse": "broker_registration",
    "ClearElrRecord": "clear_elr_record",
    "ClientQuotaRecord": "client_quota_record",
    "ConfigRecord": "config_record",
    "ConsumerGroupCurrentMemberAssignmentKey": "consumer_group_current_member_assignment",
    "ConsumerGroupCurrentMemberAssignmentValue": "consumer_group_current_member_assignment",
    "ConsumerGroupDescribeRequest": "consumer_group_describe",
    "ConsumerGroupDescribeResponse": "consumer_group_describe",
    "ConsumerGroupHeartbeatRequest": "consumer_group_heartbeat",
    "ConsumerGroupHeartbeatResponse": "consumer_group_heartbeat",
    "ConsumerGroupMemberMetadataKey": "consumer_group_member_metadata",
    "ConsumerGroupMemberMetadataValue": "consumer_group_member_metadata",
    "ConsumerGroupMetadataKey": "consumer_group_metadata",
    "ConsumerGroupMetadataValue": "consumer_group_metadata",
    "ConsumerGroupPartitionMetadataKey": "consumer_group_partition_metadata",
    "ConsumerGroupPartitionMetadataValue": "consumer_group_partition_metadata",
    "ConsumerGroupRegularExpressionKey": "consumer_group_regular_expression",
    "ConsumerGroupRegularExpressionValue": "consumer_group_regular_expression",
    "ConsumerGroupTargetAssignmentMemberKey": "consumer_group_target_assignment_member",
    "ConsumerGroupTargetAssignmentMemberValue": "consumer_group_target_assignment_member",
    "ConsumerGroupTargetAssignmentMetadataKey": "consumer_group_target_assignment_metadata",
    "ConsumerGroupTargetAssignmentMetadataValue": "consumer_group_target_assignment_metadata",
    "ConsumerProtocolAssignment": "consumer_protocol_assignment",
    "ConsumerProtocolSubscription": "consumer_protocol_subscription",
    "ControlRecordTypeSchema": "control_record_type_schema",
    "ControllerRegistrationRequest": "controller_registration",
    "ControllerRegistrationResponse": "controller_registration",
    "CreateAclsRequest": "create_acls",
    "CreateAclsResponse": "create_acls",
    "CreateDelegationTokenRequest": "create_delegation_token",
    "CreateDelegationTokenResponse": "create_delegation_token",
    "CreatePartitionsRequest": "create_partitions",
    "CreatePartitionsResponse": "create_partitions",
    "CreateTopicsRequest": "create_topics",
    "CreateTopicsResponse": "create_topics",
    "DefaultPrincipalData": "default_principal_data",
    "DelegationTokenRecord": "delegation_token_record",
    "DeleteAclsRequest": "delete_acls",
    "DeleteAclsResponse": "delete_acls",
    "DeleteGroupsRequest": "delete_groups",
    "DeleteGroupsResponse": "delete_groups",
    "DeleteRecordsRequest": "delete_records",
    "DeleteRecordsResponse": "delete_records",
    "DeleteShareGroupOffsetsRequest": "delete_share_group_offsets",
    "DeleteShareGroupOffsetsResponse": "delete_share_group_offsets",
    "DeleteShareGroupStateRequest": "delete_share_group_state",
    "DeleteShareGroupStateResponse": "delete_share_group_state",
    "DeleteTopicsRequest": "delete_topics",
    "DeleteTopicsResponse": "delete_topics",
    "DescribeAclsRequest": "describe_acls",
    "DescribeAclsResponse": "describe_acls",
    "DescribeClientQuotasRequest": "describe_client_quotas",
    "DescribeClientQuotasResponse": "describe_client_quotas",
    "DescribeClusterRequest": "describe_cluster",
    "DescribeClusterResponse": "describe_cluster",
    "DescribeConfigsRequest": "describe_configs",
    "DescribeConfigsResponse": "describe_configs",
    "DescribeDelegationTokenRequest": "describe_delegation_token",
    "DescribeDelegationTokenResponse": "describe_delegation_token",
    "DescribeGroupsRequest": "describe_groups",
    "DescribeGroupsResponse": "describe_groups",
    "DescribeLogDirsRequest": "describe_log_dirs",
    "DescribeLogDirsResponse": "describe_log_dirs",
    "DescribeProducersRequest": "describe_producers",
    "DescribeProducersResponse": "describe_producers",
    "DescribeQuorumRequest": "describe_quorum",
    "DescribeQuorumResponse": "describe_quorum",
    "DescribeShareGroupOffsetsRequest": "describe_share_group_offsets",
    "DescribeShareGroupOffsetsResponse": "describe_share_group_offsets",
    "DescribeTopicPartitionsRequest": "describe_topic_partitions",
    "DescribeTopicPartitionsResponse": "describe_topic_partitions",
    "DescribeTransactionsRequest": "describe_transactions",
    "DescribeTransactionsResponse": "describe_transactions",
    "DescribeUserScramCredentialsRequest": "describe_user_scram_credentials",
    "DescribeUserScramCredentialsResponse": "describe_user_scram_credentials",
    "ElectLeadersRequest": "elect_leaders",
    "ElectLeadersResponse": "elect_leaders",
    "EndTransactionRecord": "end_transaction_record",
    "EndTxnMarker": "end_txn_marker",
    "EndTxnRequest": "end_txn",
    "EndTxnResponse": "end_txn",
    "EnvelopeRequest": "envelope",
    "EnvelopeResponse": "envelope",
    "ExpireDelegationTokenRequest": "expire_delegation_token",
    "ExpireDelegationTokenResponse": "expire_delegation_token",
    "FeatureLevelRecord": "feature_level_record",
    "FenceBrokerRecord": "fence_broker_record",
    "FetchRequest": "fetch",
    "FetchResponse": "fetch",
    "FetchSnapshotRequest": "fetch_snapshot",
    "FetchSnapshotResponse": "fetch_snapshot",
    "FindCoordinatorRequest": "find_coordinator",
    "FindCoordinatorResponse": "find_coordinator",
    "GetTelemetrySubscriptionsRequest": "get_telemetry_subscriptions",
    "GetTelemetrySubscriptionsResponse": "get_telemetry_subscriptions",
    "GroupMetadataKey": "group_metadata",
    "GroupMetadataValue": "group_metadata",
    "HeartbeatRequest": "heartbeat",
    "HeartbeatResponse": "heartbeat",
    "IncrementalAlterConfigsRequest": "incremental_alter_configs",
    "IncrementalAlterConfigsResponse": "incremental_alter_configs",
    "InitProducerIdRequest": "init_producer_id",
    "InitProducerIdResponse": "init_producer_id",
    "InitializeShareGroupStateRequest": "initialize_share_group_state",
    "InitializeShareGroupStateResponse": "initialize_share_group_state",
    "JoinGroupRequest": "join_group",
    "JoinGroupResponse": "join_group",
    "KRaftVersionRecord": "kraft_version_record",
    "LeaderChangeMessage": "leader_change_message",
    "LeaveGroupRequest": "leave_group",
    "LeaveGroupResponse": "leave_group",
    "LegacyOffsetCommitKey": "legacy_offset_commit",
    "LegacyOffsetCommitValue": "legacy_offset_commit",
    "ListConfigResourcesRequest": "list_config_resources",
    "ListConfigResourcesResponse": "list_config_resources",
    "ListGroupsRequest": "list_groups",
    "ListGroupsResponse": "list_groups",
    "ListOffsetsRequest": "list_offsets",
    "ListOffsetsResponse": "list_offsets",
    "ListPartitionReassignmentsRequest": "list_partition_reassignments",
    "ListPartitionReassignmentsResponse": "list_partition_reassignments",
    "ListTransactionsRequest": "list_transactions",
    "ListTransactionsResponse": "list_transactions",
    "MetadataRequest": "metadata",
    "MetadataResponse": "metadata",
    "NoOpRecord": "no_op_record",
    "OffsetCommitKey": "offset_commit",
    "OffsetCommitRequest": "offset_commit",
    "OffsetCommitResponse": "offset_commit",
    "OffsetCommitValue": "offset_commit",
    "OffsetDeleteRequest": "offset_delete",
    "OffsetDeleteResponse": "offset_delete",
    "OffsetFetchRequest": "offset_fetch",
    "OffsetFetchResponse": "offset_fetch",
    "OffsetForLeaderEpochRequest": "offset_for_leader_epoch",
    "OffsetForLeaderEpochResponse": "offset_for_leader_epoch",
    "PartitionChangeRecord": "partition_change_record",
    "PartitionRecord": "partition_record",
    "ProduceRequest": "produce",
    "ProduceResponse": "produce",
    "ProducerIdsRecord": "producer_ids_record",
    "ProducerSnapshot": "producer_snapshot",
    "PushTelemetryRequest": "push_telemetry",
    "PushTelemetryResponse": "push_telemetry",
    "ReadShareGroupStateRequest": "read_share_group_state",
    "ReadShareGroupStateResponse": "read_share_group_state",
    "ReadShareGroupStateSummaryRequest": "read_share_group_state_summary",
    "ReadShareGroupStateSummaryResponse": "read_share_group_state_summary",
    "RegisterBrokerRecord": "register_broker_record",
    "RegisterControllerRecord": "register_controller_record",
    "RemoveAccessControlEntryRecord": "remove_access_control_entry_record",
    "RemoveDelegationTokenRecord": "remove_delegation_token_record",
    "RemoveRaftVoterRequest": "remove_raft_voter",
    "RemoveRaftVoterResponse": "remove_raft_voter",
    "RemoveTopicRecord": "remove_topic_record",
    "RemoveUserScramCredentialRecord": "remove_user_scram_credential_record",
    "RenewDelegationTokenRequest": "renew_delegation_token",
    "RenewDelegationTokenResponse": "renew_delegation_token",
    "RequestHeader": "request_header",
    "ResponseHeader": "response_header",
    "SaslAuthenticateRequest": "sasl_authenticate",
    "SaslAuthenticateResponse": "sasl_authenticate",
    "SaslHandshakeRequest": "sasl_handshake",
    "SaslHandshakeResponse": "sasl_handshake",
    "ShareAcknowledgeRequest": "share_acknowledge",
    "ShareAcknowledgeResponse": "share_acknowledge",
    "ShareFetchRequest": "share_fetch",
    "ShareFetchResponse": "share_fetch",
    "ShareGroupCurrentMemberAssignmentKey": "share_group_current_member_assignment",
    "ShareGroupCurrentMemberAssignmentValue": "share_group_current_member_assignment",
    "ShareGroupDescribeRequest": "share_group_describe",
    "ShareGroupDescribeResponse": "share_group_describe",
    "ShareGroupHeartbeatRequest": "share_group_heartbeat",
    "ShareGroupHeartbeatResponse": "share_group_heartbeat",
    "ShareGroupMemberMetadataKey": "share_group_member_metadata",
    "ShareGroupMemberMetadataValue": "share_group_member_metadata",
    "ShareGroupMetadataKey": "share_group_metadata",
    "ShareGroupMetadataValue": "share_group_metadata",
    "ShareGroupStatePartitionMetadataKey": "share_group_state_partition_metadata",
    "ShareGroupStatePartitionMetadataValue": "share_group_state_partition_metadata",
    "ShareGroupTargetAssignmentMemberKey": "share_group_target_assignment_member",
    "ShareGroupTargetAssignmentMemberValue": "share_group_target_assignment_member",
    "ShareGroupTargetAssignmentMetadataKey": "share_group_target_assignment_metadata",
    "ShareGroupTargetAssignmentMetadataValue": "share_group_target_assignment_metadata",
    "ShareSnapshotKey": "share_snapshot",
    "ShareSnapshotValue": "share_snapshot",
    "ShareUpdateKey": "share_update",
    "ShareUpdateValue": "share_update",
    "SnapshotFooterRecord": "snapshot_footer_record",
    "SnapshotHeaderRecord": "snapshot_header_record",
    "StreamsGroupCurrentMemberAssignmentKey": "streams_group_current_member_assignment",
    "StreamsGroupCurrentMemberAssignmentValue": "streams_group_current_member_assignment",
    "StreamsGroupDescribeRequest": "streams_group_describe",
    "StreamsGroupDescribeResponse": "streams_group_describe",
    "StreamsGroupHeartbeatRequest": "streams_group_heartbeat",
    "StreamsGroupHeartbeatResponse": "streams_group_heartbeat",
    "StreamsGroupMemberMetadataKey": "streams_group_member_metadata",
    "StreamsGroupMemberMetadataValue": "streams_group_member_metadata",
    "StreamsGroupMetadataKey": "streams_group_metadata",
    "StreamsGroupMetadataValue": "streams_group_metadata",
    "StreamsGroupTargetAssignmentMemberKey": "streams_group_target_assignment_member",
    "StreamsGroupTargetAssignmentMemberValue": "streams_group_target_assignment_member",
    "StreamsGroupTargetAssignmentMetadataKey": "streams_group_target_assignment_metadata",
    "StreamsGroupTargetAssignmentMetadataValue": "streams_group_target_assignment_metadata",
    "StreamsGroupTopologyKey": "streams_group_topology",
    "StreamsGroupTopologyValue": "streams_group_topology",
    "SyncGroupRequest": "sync_group",
    "SyncGroupResponse": "sync_group",
    "TopicRecord": "topic_record",
    "TransactionLogKey": "transaction_log",
    "TransactionLogValue": "transaction_log",
    "TxnOffsetCommitRequest": "txn_offset_commit",
    "TxnOffsetCommitResponse": "txn_offset_commit",
    "UnfenceBrokerRecord": "unfence_broker_record",
    "UnregisterBrokerRecord": "unregister_broker_record",
    "UnregisterBrokerRequest": "unregister_broker",
    "UnregisterBrokerResponse": "unregister_broker",
    "UpdateFeaturesRequest": "update_features",
    "UpdateFeaturesResponse": "update_features",
    "UpdateRaftVoterRequest": "update_raft_voter",
    "UpdateRaftVoterResponse": "update_raft_voter",
    "UserScramCredentialRecord": "user_scram_credential_record",
    "VotersRecord": "voters_record",
    "WriteShareGroupStateRequest": "write_share_group_state",
    "WriteShareGroupStateResponse": "write_share_group_state",
    "WriteTxnMarkersRequest": "write_txn_markers",
    "WriteTxnMarkersResponse": "write_txn_markers",
}

METADATA_RECORDS: dict[int, str] = {
    0: "RegisterBrokerRecord",
    1: "UnregisterBrokerRecord",
    2: "TopicRecord",
    3: "PartitionRecord",
    4: "ConfigRecord",
    5: "PartitionChangeRecord",
    7: "FenceBrokerRecord",
    8: "UnfenceBrokerRecord",
    9: "RemoveTopicRecord",
    10: "DelegationTokenRecord",
    11: "UserScramCredentialRecord",
    12: "FeatureLevelRecord",
    14: "ClientQuotaRecord",
    15: "ProducerIdsRecord",
    17: "BrokerRegistrationChangeRecord",
    18: "AccessControlEntryRecord",
    19: "RemoveAccessControlEntryRecord",
    20: "NoOpRecord",
    22: "RemoveUserScramCredentialRecord",
    23: "BeginTransactionRecord",
    24: "EndTransactionRecord",
    25: "AbortTransactionRecord",
    26: "RemoveDelegationTokenRecord",
    27: "RegisterControllerRecord",
    28: "ClearElrRecord",
}

TRANSACTION_COORDINATOR_RECORDS: dict[int, str] = {
    0: "TransactionLog",
}

SHARE_COORDINATOR_RECORDS: dict[int, str] = {
    0: "ShareSnapshot",
    1: "ShareUpdate",
}

GROUP_COORDINATOR_RECORDS: dict[int, str] = {
    0: "LegacyOffsetCommit",
    1: "OffsetCommit",
    2: "GroupMetadata",
    3: "ConsumerGroupMetadata",
    4: "ConsumerGroupPartitionMetadata",
    5: "ConsumerGroupMemberMetadata",
    6: "ConsumerGroupTargetAssignmentMetadata",
    7: "ConsumerGroupTargetAssignmentMember",
    8: "ConsumerGroupCurrentMemberAssignment",
    10: "ShareGroupMemberMetadata",
    11: "ShareGroupMetadata",
    12: "ShareGroupTargetAssignmentMetadata",
    13: "ShareGroupTargetAssignmentMember",
    14: "ShareGroupCurrentMemberAssignment",
    15: "ShareGroupStatePartitionMetadata",
    16: "ConsumerGroupRegularExpression",
    17: "StreamsGroupMetadata",
    19: "StreamsGroupMemberMetadata",
    20: "StreamsGroupTargetAssignmentMetadata",
    21: "StreamsGroupTargetAssignmentMember",
    22: "StreamsGroupCurrentMemberAssignment",
    23: "StreamsGroupTopology",
}
