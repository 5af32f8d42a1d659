"""Every setting by its Kafka name: type, range, default, and one line of help.

settings = load("server.properties", os.environ, ["num.partitions=3"])
settings.num_partitions               # 3, and a type checker knows that it is an int
settings["num.partitions"]            # the same by Kafka's name
settings.source("num.partitions")     # -c num.partitions
settings.topic({"retention.ms": "5"}).retention_ms
Settings.num_partitions.help          # the setting itself
"""

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.setting import AnySetting, Kind, Scope, Setting, Value
from fencepost_broker.config.settings import Settings
from fencepost_broker.config.sources.loading import load
from fencepost_broker.config.table import Given, Origin, Source
from fencepost_broker.config.tables.client_metrics import SettingsOfClientMetrics
from fencepost_broker.config.tables.group import SettingsOfGroup
from fencepost_broker.config.tables.topic import TopicSettings
from fencepost_broker.config.values.endpoints import Endpoint, parse_endpoint

__all__ = [
    "AnySetting",
    "Endpoint",
    "Given",
    "Kind",
    "Origin",
    "Scope",
    "Setting",
    "Settings",
    "SettingsError",
    "SettingsOfClientMetrics",
    "SettingsOfGroup",
    "Source",
    "TopicSettings",
    "Value",
    "load",
    "parse_endpoint",
]
