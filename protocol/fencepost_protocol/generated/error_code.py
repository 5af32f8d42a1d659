# Generated from schemas/errors.json by python -m fencepost_protocol.codegen.
# Do not edit.
"""The error codes that travel in replies."""

from enum import IntEnum


class ErrorCode(IntEnum):
    """An error code of the Kafka protocol; see ``fencepost_protocol.errors``."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_FETCH_SIZE = 4
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    STALE_CONTROLLER_EPOCH = 11
    OFFSET_METADATA_TOO_LARGE = 12
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    SECURITY_DISABLED = 54
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    LOG_DIR_NOT_FOUND = 57
    SASL_AUTHENTICATION_FAILED = 58
    UNKNOWN_PRODUCER_ID = 59
    REASSIGNMENT_IN_PROGRESS = 60
    DELEGATION_TOKEN_AUTH_DISABLED = 61
    DELEGATION_TOKEN_NOT_FOUND = 62
    DELEGATION_TOKEN_OWNER_MISMATCH = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
    DELEGATION_TOKEN_EXPIRED = 66
    INVALID_PRINCIPAL_TYPE = 67
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    LISTENER_NOT_FOUND = 72
    TOPIC_DELETION_DISABLED = 73
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    STALE_BROKER_EPOCH = 77
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    INCONSISTENT_VOTER_SET = 94
    INVALID_UPDATE_VERSION = 95
    FEATURE_UPDATE_FAILED = 96
    PRINCIPAL_DESERIALIZATION_FAILURE = 97
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_TOPIC_ID = 103
    INCONSISTENT_CLUSTER_ID = 104
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FETCH_SESSION_TOPIC_ID_ERROR = 106
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    OFFSET_MOVED_TO_TIERED_STORAGE = 109
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_CONTROLLER_ID = 116
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118
    INVALID_REGISTRATION = 119
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    FENCED_STATE_EPOCH = 124
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127
    INVALID_REGULAR_EXPRESSION = 128
    REBOOTSTRAP_REQUIRED = 129
    STREAMS_INVALID_TOPOLOGY = 130
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131
    STREAMS_TOPOLOGY_FENCED = 132
    SHARE_SESSION_LIMIT_REACHED = 133


RETRIABLE: frozenset[int] = frozenset(
    {2, 3, 5, 6, 7, 9, 13, 14, 15, 16, 19, 20, 41, 51, 56, 70, 71, 72, 74, 75,
     78, 80, 83, 84, 88, 89, 100, 103, 106, 122, 123, 133}
)
"""Codes after which the same request may be sent again."""

KINDS: dict[int, str] = {
    -1: "abortable",
    0: "none",
    1: "abortable",
    2: "retriable",
    3: "refresh",
    4: "fatal",
    5: "refresh",
    6: "refresh",
    7: "retriable",
    8: "abortable",
    9: "refresh",
    10: "abortable",
    11: "fatal",
    12: "abortable",
    13: "refresh",
    14: "retriable",
    15: "refresh",
    16: "refresh",
    17: "fatal",
    18: "fatal",
    19: "retriable",
    20: "retriable",
    21: "fatal",
    22: "application-recoverable",
    23: "fatal",
    24: "fatal",
    25: "application-recoverable",
    26: "fatal",
    27: "abortable",
    28: "abortable",
    29: "fatal",
    30: "fatal",
    31: "fatal",
    32: "abortable",
    33: "fatal",
    34: "fatal",
    35: "fatal",
    36: "fatal",
    37: "fatal",
    38: "fatal",
    39: "fatal",
    40: "fatal",
    41: "retriable",
    42: "fatal",
    43: "fatal",
    44: "fatal",
    45: "abortable",
    46: "abortable",
    47: "application-recoverable",
    48: "application-recoverable",
    49: "application-recoverable",
    50: "fatal",
    51: "retriable",
    52: "application-recoverable",
    53: "fatal",
    54: "fatal",
    55: "abortable",
    56: "refresh",
    57: "fatal",
    58: "fatal",
    59: "abortable",
    60: "abortable",
    61: "fatal",
    62: "fatal",
    63: "fatal",
    64: "fatal",
    65: "fatal",
    66: "fatal",
    67: "fatal",
    68: "abortable",
    69: "application-recoverable",
    70: "retriable",
    71: "retriable",
    72: "refresh",
    73: "fatal",
    74: "refresh",
    75: "retriable",
    76: "fatal",
    77: "application-recoverable",
    78: "retriable",
    79: "abortable",
    80: "refresh",
    81: "fatal",
    82: "application-recoverable",
    83: "refresh",
    84: "refresh",
    85: "fatal",
    86: "abortable",
    87: "fatal",
    88: "retriable",
    89: "retriable",
    90: "application-recoverable",
    91: "fatal",
    92: "fatal",
    93: "fatal",
    94: "fatal",
    95: "fatal",
    96: "fatal",
    97: "fatal",
    98: "abortable",
    99: "fatal",
    100: "refresh",
    101: "fatal",
    102: "fatal",
    103: "refresh",
    104: "fatal",
    105: "application-recoverable",
    106: "retriable",
    107: "abortable",
    108: "abortable",
    109: "abortable",
    110: "application-recoverable",
    111: "application-recoverable",
    112: "fatal",
    113: "abortable",
    114: "fatal",
    115: "fatal",
    116: "fatal",
    117: "abortable",
    118: "abortable",
    119: "fatal",
    120: "abortable",
    121: "abortable",
    122: "retriable",
    123: "retriable",
    124: "application-recoverable",
    125: "fatal",
    126: "fatal",
    127: "fatal",
    128: "fatal",
    129: "application-recoverable",
    130: "fatal",
    131: "fatal",
    132: "application-recoverable",
    133: "retriable",
}
"""What a transactional client does about a code (KIP-1050)."""
