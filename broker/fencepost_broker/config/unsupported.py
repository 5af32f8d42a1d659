"""Settings of Kafka that Fencepost does not take, and why. Names that end in a dot are prefixes."""

from __future__ import annotations

from typing import Final

_NO_STORES: Final = "key stores of Java are not read: it is PEM, where ssl.key.password is a key's"
_NO_KERBEROS: Final = "there is no Kerberos"
_NO_TOKENS: Final = "there is no OAUTHBEARER"
_NO_TIERS: Final = "there is no tiered storage"
_NO_SHARE: Final = "there are no share groups"
_NO_STREAMS: Final = "there are no streams groups"
_NO_QUOTAS: Final = "quotas of clients alone are kept, over Kafka's default windows"
_NO_CLASSES: Final = "there are no Java classes to load"
_NO_JMX: Final = "metrics are not exported by JMX"
_GONE: Final = "Kafka has it no more since 4.0"

_NAMES: Final = {
    "alter.config.policy.class.name": _NO_CLASSES,
    "broker.id": "its name is node.id",
    "client.quota.callback.class": _NO_QUOTAS,
    "config.providers": _NO_CLASSES,
    "controller.quorum.auto.join.enable": "the voters of a quorum do not change",
    "create.topic.policy.class.name": _NO_CLASSES,
    "follower.fetch.last.tiered.offset.enable": _NO_TIERS,
    "log.local.retention.bytes": _NO_TIERS,
    "log.local.retention.ms": _NO_TIERS,
    "principal.builder.class": "principals are users as Kafka makes them by default",
    "server.max.startup.time.ms": "whoever waits for the broker knows for how long",
    "host.name": _GONE,
    "port": _GONE,
    "advertised.host.name": _GONE,
    "advertised.port": _GONE,
    "log.message.format.version": _GONE,
    "inter.broker.protocol.version": _GONE,
    "log.message.downconversion.enable": _GONE,
    "log.message.timestamp.difference.max.ms": _GONE,
    "reserved.broker.max.id": _GONE,
    "broker.id.generation.enable": _GONE,
    "control.plane.listener.name": _GONE,
    "controlled.shutdown.max.retries": _GONE,
    "delegation.token.master.key": _GONE,
    "offsets.commit.required.acks": _GONE,
    "password.encoder.": _GONE,
    "zookeeper.": _GONE,
    "alter.log.dirs.replication.quota.": _NO_QUOTAS,
    "controller.quota.": _NO_QUOTAS,
    "quota.": _NO_QUOTAS,
    "replication.quota.": _NO_QUOTAS,
    "controller.performance.": "the controller does not measure itself",
    "controller.quorum.fetch.max.bytes": "what controllers fetch is not bounded",
    "controller.quorum.fetch.snapshot.max.bytes": "what controllers fetch is not bounded",
    "delegation.token.": "there are no delegation tokens",
    "sasl.client.": _NO_CLASSES,
    "sasl.jaas.config": "it belongs to a listener and a mechanism:"
    " listener.name.NAME.plain.sasl.jaas.config",
    "sasl.kerberos.": _NO_KERBEROS,
    "sasl.login.": _NO_CLASSES,
    "sasl.oauthbearer.": _NO_TOKENS,
    "sasl.server.callback.handler.class": _NO_CLASSES,
    "security.providers": _NO_CLASSES,
    "ssl.allow.": _NO_STORES,
    "ssl.cipher.suites": "OpenSSL's own are good, and its names are not Java's",
    "ssl.engine.factory.class": _NO_CLASSES,
    "ssl.keymanager.algorithm": _NO_STORES,
    "ssl.keystore.password": _NO_STORES,
    "ssl.protocol": "ssl.enabled.protocols says what is spoken",
    "ssl.provider": _NO_CLASSES,
    "ssl.secure.random.implementation": _NO_CLASSES,
    "ssl.trustmanager.algorithm": _NO_STORES,
    "ssl.truststore.password": _NO_STORES,
    "group.share.": _NO_SHARE,
    "share.": _NO_SHARE,
    "group.streams.": _NO_STREAMS,
    "internal.": "it is for Kafka's own tests",
    "log.initial.task.delay.ms": "it is for Kafka's own tests",
    "kafka.metrics.": _NO_JMX,
    "metric.reporters": _NO_JMX,
    "metrics.": _NO_JMX,
    "remote.": _NO_TIERS,
}


def reason_to_refuse(name: str) -> str | None:
    """Why a setting that Kafka has is refused; none when Kafka does not have it."""
    for key, reason in _NAMES.items():
        if name == key or (key.endswith(".") and name.startswith(key)):
            return reason
    return None
