"""MirrorMaker 2 both ways between two clusters, which are the same brokers under two names."""

import os
import subprocess
import sys
from pathlib import Path

FACTOR = str(min(3, os.environ["BOOTSTRAP"].count(",") + 1))
SETTINGS = {
    "clusters": "here, there",
    "here.bootstrap.servers": os.environ["BOOTSTRAP"],
    "there.bootstrap.servers": os.environ["BOOTSTRAP"],
    "here->there.enabled": "true",
    "there->here.enabled": "true",
    "topics": "orders",
    "here.exactly.once.source.support": "enabled",
    "there.exactly.once.source.support": "enabled",
    "dedicated.mode.enable.internal.rest": "true",
    "refresh.topics.interval.seconds": "5",
    "replication.factor": FACTOR,
    **{f"{name}.storage.replication.factor": FACTOR for name in ("offset", "config", "status")},
    **{
        f"{name}.topic.replication.factor": FACTOR
        for name in ("checkpoints", "heartbeats", "offset-syncs")
    },
}
properties = Path(os.environ["STATE"]) / "mirror.properties"
properties.write_text("".join(f"{name} = {value}\n" for name, value in SETTINGS.items()))
sys.exit(subprocess.call([*sys.argv[1:], properties]))
