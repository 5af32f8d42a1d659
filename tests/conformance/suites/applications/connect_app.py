"""Kafka Connect: a connector for files, each of whose lines comes once into a topic."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

REST = "http://localhost:8083"
FACTOR = str(min(3, os.environ["BOOTSTRAP"].count(",") + 1))
WORKER = {
    "bootstrap.servers": os.environ["BOOTSTRAP"],
    "group.id": "connect",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "exactly.once.source.support": "enabled",
    "listeners": REST,
    **{f"{name}.storage.topic": f"connect-{name}" for name in ("offset", "config", "status")},
    **{f"{name}.storage.replication.factor": FACTOR for name in ("offset", "config", "status")},
}
state = Path(os.environ["STATE"])
properties = state / "worker.properties"
properties.write_text("".join(f"{name}={value}\n" for name, value in WORKER.items()))
CONNECTOR = {
    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
    "file": str(state / "invoices.txt"),
    "topic": "invoices",
    # More than there are: the connector keeps the rest of a full batch until more lines come.
    "batch.size": "5000",
    "exactly.once.support": "required",
    "transaction.boundary": "poll",
}

worker = subprocess.Popen([*sys.argv[1:], properties])
while worker.poll() is None:
    request = urllib.request.Request(
        f"{REST}/connectors/invoices/config",
        json.dumps(CONNECTOR).encode(),
        {"Content-Type": "application/json"},
        method="PUT",
    )
    try:
        urllib.request.urlopen(request, timeout=30).close()
        break
    except (OSError, urllib.error.HTTPError) as error:
        print("the worker is not ready:", error, flush=True)
        time.sleep(0.5)
worker.wait()
