"""Bytewax: a flow whose positions are in its own recovery store."""

import os
from datetime import timedelta
from pathlib import Path

from bytewax import operators as op
from bytewax.connectors.kafka import KafkaSinkMessage
from bytewax.connectors.kafka import operators as kop
from bytewax.dataflow import Dataflow
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.run import cli_main

servers = os.environ["BOOTSTRAP"].split(",")
store = Path(os.environ["STATE"])
if not list(store.glob("*.sqlite3")):
    init_db_dir(store, 1)
flow = Dataflow("invoicing")
orders = kop.input("orders", flow, brokers=servers, topics=["orders"])
invoices = op.map(
    "invoice", orders.oks, lambda order: KafkaSinkMessage(order.key, b"invoice for " + order.value)
)
kop.output("invoices", invoices, brokers=servers, topic="invoices")
cli_main(
    flow,
    workers_per_process=1,
    epoch_interval=timedelta(seconds=0.2),
    recovery_config=RecoveryConfig(store),
)
