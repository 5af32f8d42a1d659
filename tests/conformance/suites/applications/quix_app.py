"""Quix Streams: a table of counts in its changelog topic, and transactions around it."""

import os

from quixstreams import Application, State

app = Application(
    broker_address=os.environ["BOOTSTRAP"],
    consumer_group="invoicing",
    auto_offset_reset="earliest",
    processing_guarantee="exactly-once",
    commit_interval=0.2,
    state_dir=os.environ["STATE"],
)
orders = app.topic("orders", key_deserializer="bytes", value_deserializer="bytes")
invoices = app.topic("invoices", key_serializer="bytes", value_serializer="bytes")


def invoice(order: bytes, state: State) -> bytes:
    state.set("count", state.get("count", 0) + 1)
    return b"invoice for " + order


app.dataframe(orders).apply(invoice, stateful=True).to_topic(invoices)
app.run()
