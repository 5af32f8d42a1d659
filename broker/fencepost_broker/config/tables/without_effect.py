"""Settings of Apache Kafka without effect here, accepted so that its files can be used.

They are read, checked and described as in Kafka; the broker logs once at its start which of them
were given. Settings that would affect security are refused instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fencepost_broker.config.setting import AnySetting, Kind, Scope, Setting, Value
from fencepost_broker.config.values.units import LONG_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

TIERS: Final = "there is no tiered storage"
KERBEROS: Final = "there is no Kerberos"
OAUTHBEARER: Final = "the broker does not log in by OAUTHBEARER, and loads no classes of Java"
LOGIN: Final = "the broker logs in with PLAIN or SCRAM, by code of its own"
JAVA_TLS: Final = "OpenSSL does TLS here, and has no such choice"
METRICS: Final = "metrics are not reported by classes of Java"
POLICIES: Final = "classes of Java are not loaded, so no policy refuses a topic or a setting"
ONE_DIRECTORY: Final = "replicas do not move between log directories"
VOTERS: Final = "there is one controller"
MEASURE: Final = "the controller does not measure itself"
FOR_TESTS: Final = "it is for Kafka's own tests"
STARTUP: Final = "a start has no time limit"

_NO_CLASSES: Final = "classes of Java are not loaded"
_NO_STORES: Final = "key stores of Java are not read, PEM is; ssl.key.password opens a PEM key"


def kept(kind: Kind, default: Value, why: str, *, refused: str = "", **facts: Any) -> AnySetting:
    """Return a setting without effect, and why; ``refused`` allows the default only."""
    if refused:
        facts["check"] = _only(default, refused)
        facts["range_text"] = "its default only"
    return Setting(kind, default, why, ignored=True, **facts)


def _only(default: Value, refused: str) -> Callable[[Value], str | None]:
    return lambda given: None if given == default else refused


def _not_empty(given: str) -> str | None:
    return None if given else "it is empty"


class TieredStorageSettings:
    """Tiered storage (KIP-405), which is not supported."""

    follower_fetch_last_tiered_offset_enable = kept(Kind.BOOLEAN, False, TIERS, scope=Scope.CLUSTER)
    log_local_retention_bytes = kept(Kind.LONG, -2, TIERS, at_least=-2, scope=Scope.CLUSTER)
    log_local_retention_ms = kept(Kind.LONG, -2, TIERS, at_least=-2, scope=Scope.CLUSTER)
    remote_fetch_max_wait_ms = kept(Kind.INT, 500, TIERS, at_least=1, scope=Scope.CLUSTER)
    remote_list_offsets_request_timeout_ms = kept(
        Kind.LONG, 30000, TIERS, at_least=1, scope=Scope.CLUSTER
    )
    remote_log_index_file_cache_total_size_bytes = kept(
        Kind.LONG, 1_073_741_824, TIERS, at_least=1, scope=Scope.CLUSTER
    )
    remote_log_index_file_cache_ttl_ms = kept(Kind.LONG, 900_000, TIERS, at_least=-1, internal=True)
    remote_log_manager_copier_thread_pool_size = kept(
        Kind.INT, 10, TIERS, at_least=1, scope=Scope.CLUSTER
    )
    remote_log_manager_copy_max_bytes_per_second = kept(
        Kind.LONG, LONG_MAX, TIERS, at_least=1, scope=Scope.CLUSTER
    )
    remote_log_manager_copy_quota_window_num = kept(Kind.INT, 11, TIERS, at_least=1)
    remote_log_manager_copy_quota_window_size_seconds = kept(Kind.INT, 1, TIERS, at_least=1)
    remote_log_manager_expiration_thread_pool_size = kept(
        Kind.INT, 10, TIERS, at_least=1, scope=Scope.CLUSTER
    )
    remote_log_manager_fetch_max_bytes_per_second = kept(
        Kind.LONG, LONG_MAX, TIERS, at_least=1, scope=Scope.CLUSTER
    )
    remote_log_manager_fetch_quota_window_num = kept(Kind.INT, 11, TIERS, at_least=1)
    remote_log_manager_fetch_quota_window_size_seconds = kept(Kind.INT, 1, TIERS, at_least=1)
    remote_log_manager_follower_thread_pool_size = kept(
        Kind.INT, 2, TIERS, at_least=1, scope=Scope.CLUSTER
    )
    remote_log_manager_task_interval_ms = kept(Kind.LONG, 30000, TIERS, at_least=1)
    remote_log_manager_task_retry_backoff_max_ms = kept(
        Kind.LONG, 30000, TIERS, at_least=1, internal=True
    )
    remote_log_manager_task_retry_backoff_ms = kept(
        Kind.LONG, 500, TIERS, at_least=1, internal=True
    )
    remote_log_manager_task_retry_jitter = kept(
        Kind.DOUBLE, 0.2, TIERS, at_least=0, at_most=0.5, internal=True
    )
    remote_log_manager_thread_pool_size = kept(Kind.INT, 2, TIERS, at_least=1)
    remote_log_metadata_custom_metadata_max_bytes = kept(Kind.INT, 128, TIERS, at_least=0)
    remote_log_metadata_manager_class_name = kept(
        Kind.STRING,
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        TIERS,
        check=_not_empty,
    )
    remote_log_metadata_manager_class_path = kept(Kind.STRING, None, TIERS)
    remote_log_metadata_manager_impl_prefix = kept(
        Kind.STRING, "rlmm.config.", TIERS, check=_not_empty
    )
    remote_log_metadata_manager_listener_name = kept(Kind.STRING, None, TIERS, check=_not_empty)
    remote_log_reader_max_pending_tasks = kept(Kind.INT, 100, TIERS, at_least=1)
    remote_log_reader_threads = kept(Kind.INT, 10, TIERS, at_least=1, scope=Scope.CLUSTER)
    remote_log_storage_manager_class_name = kept(Kind.STRING, None, TIERS, check=_not_empty)
    remote_log_storage_manager_class_path = kept(Kind.STRING, None, TIERS)
    remote_log_storage_manager_impl_prefix = kept(
        Kind.STRING, "rsm.config.", TIERS, check=_not_empty
    )
    remote_log_storage_system_enable = kept(Kind.BOOLEAN, False, TIERS)


class UnusedSecuritySettings:
    """Kerberos, parts of OAUTHBEARER, and settings of Java's TLS."""

    principal_builder_class = kept(
        Kind.CLASS,
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        "users have the names that Kafka gives them by default",
        refused=_NO_CLASSES,
        scope=Scope.PER_BROKER,
    )
    sasl_client_callback_handler_class = kept(Kind.CLASS, None, LOGIN)
    sasl_jaas_config = kept(
        Kind.PASSWORD,
        None,
        "each listener and mechanism has its own",
        refused="each mechanism has its own: listener.name.NAME.plain.sasl.jaas.config",
        scope=Scope.PER_BROKER,
    )
    sasl_kerberos_kinit_cmd = kept(Kind.STRING, "/usr/bin/kinit", KERBEROS, scope=Scope.PER_BROKER)
    sasl_kerberos_min_time_before_relogin = kept(Kind.LONG, 60000, KERBEROS, scope=Scope.PER_BROKER)
    sasl_kerberos_principal_to_local_rules = kept(
        Kind.LIST, ("DEFAULT",), KERBEROS, scope=Scope.PER_BROKER
    )
    sasl_kerberos_service_name = kept(Kind.STRING, None, KERBEROS, scope=Scope.PER_BROKER)
    sasl_kerberos_ticket_renew_jitter = kept(Kind.DOUBLE, 0.05, KERBEROS, scope=Scope.PER_BROKER)
    sasl_kerberos_ticket_renew_window_factor = kept(
        Kind.DOUBLE, 0.8, KERBEROS, scope=Scope.PER_BROKER
    )
    sasl_login_callback_handler_class = kept(Kind.CLASS, None, LOGIN)
    sasl_login_class = kept(Kind.CLASS, None, LOGIN)
    sasl_login_connect_timeout_ms = kept(Kind.INT, None, LOGIN)
    sasl_login_read_timeout_ms = kept(Kind.INT, None, LOGIN)
    sasl_login_refresh_buffer_seconds = kept(Kind.SHORT, 300, LOGIN, scope=Scope.PER_BROKER)
    sasl_login_refresh_min_period_seconds = kept(Kind.SHORT, 60, LOGIN, scope=Scope.PER_BROKER)
    sasl_login_refresh_window_factor = kept(Kind.DOUBLE, 0.8, LOGIN, scope=Scope.PER_BROKER)
    sasl_login_refresh_window_jitter = kept(Kind.DOUBLE, 0.05, LOGIN, scope=Scope.PER_BROKER)
    sasl_login_retry_backoff_max_ms = kept(Kind.LONG, 10000, LOGIN)
    sasl_login_retry_backoff_ms = kept(Kind.LONG, 100, LOGIN)
    sasl_oauthbearer_assertion_algorithm = kept(
        Kind.STRING,
        "RS256",
        OAUTHBEARER,
        check=lambda given: (
            None if given.upper() in ("ES256", "RS256") else "it is not one of them"
        ),
        range_text="ES256 or RS256",
    )
    sasl_oauthbearer_assertion_claim_aud = kept(Kind.STRING, None, OAUTHBEARER)
    sasl_oauthbearer_assertion_claim_exp_seconds = kept(
        Kind.INT, 300, OAUTHBEARER, at_least=0, at_most=86400
    )
    sasl_oauthbearer_assertion_claim_iss = kept(Kind.STRING, None, OAUTHBEARER)
    sasl_oauthbearer_assertion_claim_jti_include = kept(Kind.BOOLEAN, False, OAUTHBEARER)
    sasl_oauthbearer_assertion_claim_nbf_seconds = kept(
        Kind.INT, 60, OAUTHBEARER, at_least=0, at_most=3600
    )
    sasl_oauthbearer_assertion_claim_sub = kept(Kind.STRING, None, OAUTHBEARER)
    sasl_oauthbearer_assertion_file = kept(Kind.STRING, None, OAUTHBEARER)
    sasl_oauthbearer_assertion_private_key_file = kept(Kind.STRING, None, OAUTHBEARER)
    sasl_oauthbearer_assertion_private_key_passphrase = kept(Kind.PASSWORD, None, OAUTHBEARER)
    sasl_oauthbearer_assertion_template_file = kept(Kind.STRING, None, OAUTHBEARER)
    sasl_oauthbearer_client_credentials_client_id = kept(Kind.STRING, None, OAUTHBEARER)
    sasl_oauthbearer_client_credentials_client_secret = kept(Kind.PASSWORD, None, OAUTHBEARER)
    sasl_oauthbearer_jwt_retriever_class = kept(
        Kind.CLASS, "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever", OAUTHBEARER
    )
    sasl_oauthbearer_jwt_validator_class = kept(
        Kind.CLASS, "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator", OAUTHBEARER
    )
    sasl_oauthbearer_scope = kept(Kind.STRING, None, OAUTHBEARER)
    sasl_oauthbearer_scope_claim_name = kept(Kind.STRING, "scope", OAUTHBEARER)
    sasl_oauthbearer_token_endpoint_url = kept(Kind.STRING, None, OAUTHBEARER)
    security_providers = kept(Kind.STRING, None, JAVA_TLS)
    ssl_allow_dn_changes = kept(Kind.BOOLEAN, False, JAVA_TLS)
    ssl_allow_san_changes = kept(Kind.BOOLEAN, False, JAVA_TLS)
    ssl_cipher_suites = kept(Kind.LIST, (), JAVA_TLS, scope=Scope.PER_BROKER)
    ssl_engine_factory_class = kept(
        Kind.CLASS, None, JAVA_TLS, refused=_NO_CLASSES, scope=Scope.PER_BROKER
    )
    ssl_keymanager_algorithm = kept(Kind.STRING, "SunX509", JAVA_TLS, scope=Scope.PER_BROKER)
    ssl_keystore_password = kept(
        Kind.PASSWORD, None, "key stores are PEM", refused=_NO_STORES, scope=Scope.PER_BROKER
    )
    ssl_protocol = kept(Kind.STRING, "TLSv1.3", JAVA_TLS, scope=Scope.PER_BROKER)
    ssl_provider = kept(Kind.STRING, None, JAVA_TLS, scope=Scope.PER_BROKER)
    ssl_secure_random_implementation = kept(Kind.STRING, None, JAVA_TLS, scope=Scope.PER_BROKER)
    ssl_trustmanager_algorithm = kept(Kind.STRING, "PKIX", JAVA_TLS, scope=Scope.PER_BROKER)
    ssl_truststore_password = kept(
        Kind.PASSWORD, None, "key stores are PEM", refused=_NO_STORES, scope=Scope.PER_BROKER
    )


class UnusedServerSettings:
    """Java's metrics and classes, windows of quotas, and settings of Kafka's own tests."""

    alter_config_policy_class_name = kept(Kind.CLASS, None, POLICIES)
    alter_log_dirs_replication_quota_window_num = kept(Kind.INT, 11, ONE_DIRECTORY, at_least=1)
    alter_log_dirs_replication_quota_window_size_seconds = kept(
        Kind.INT, 1, ONE_DIRECTORY, at_least=1
    )
    client_quota_callback_class = kept(Kind.CLASS, None, _NO_CLASSES)
    config_providers = kept(
        Kind.LIST,
        (),
        "${...} in values is not replaced",
        refused="${...} in values would stay as it is: " + _NO_CLASSES,
        scope=Scope.CLUSTER,
    )
    controller_performance_always_log_threshold_ms = kept(
        Kind.LONG, 2000, MEASURE, at_least=0, internal=True
    )
    controller_performance_sample_period_ms = kept(
        Kind.LONG, 60000, MEASURE, at_least=100, internal=True
    )
    controller_quorum_auto_join_enable = kept(Kind.BOOLEAN, False, VOTERS)
    controller_quorum_fetch_max_bytes = kept(Kind.INT, 1_048_576, VOTERS, at_least=1)
    controller_quorum_fetch_snapshot_max_bytes = kept(Kind.INT, 1_048_576, VOTERS, at_least=1)
    create_topic_policy_class_name = kept(Kind.CLASS, None, POLICIES)
    internal_metadata_delete_delay_millis = kept(Kind.LONG, 60000, FOR_TESTS, internal=True)
    internal_metadata_log_segment_bytes = kept(Kind.INT, None, FOR_TESTS, internal=True)
    internal_metadata_max_batch_size_in_bytes = kept(Kind.INT, 8_388_608, FOR_TESTS, internal=True)
    kafka_metrics_polling_interval_secs = kept(Kind.INT, 10, METRICS, at_least=1)
    kafka_metrics_reporters = kept(Kind.LIST, (), METRICS)
    log_initial_task_delay_ms = kept(Kind.LONG, 30000, FOR_TESTS, at_least=0, internal=True)
    metric_reporters = kept(
        Kind.LIST, ("org.apache.kafka.common.metrics.JmxReporter",), METRICS, scope=Scope.CLUSTER
    )
    metrics_num_samples = kept(Kind.INT, 2, METRICS, at_least=1)
    metrics_recording_level = kept(Kind.STRING, "INFO", METRICS)
    metrics_sample_window_ms = kept(Kind.LONG, 30000, METRICS, at_least=1)
    server_max_startup_time_ms = kept(Kind.LONG, LONG_MAX, STARTUP, at_least=0, internal=True)
