"""Faust: an agent with a table, whose changelog is a topic."""

import os

import faust

app = faust.App(
    "invoicing",
    broker=[f"kafka://{server}" for server in os.environ["BOOTSTRAP"].split(",")],
    value_serializer="raw",
    key_serializer="raw",
    topic_partitions=3,
    topic_replication_factor=1,
    datadir=os.environ["STATE"],
    web_enabled=False,
)
orders = app.topic("orders", value_type=bytes, key_type=bytes)
invoices = app.topic("invoices", value_type=bytes, key_type=bytes)
counts = app.Table("counts", default=int, key_type=bytes)


@app.agent(orders)
async def invoice(stream):
    async for key, order in stream.items():
        counts[key] += 1
        await invoices.send(key=key, value=b"invoice for " + order)


app.finalize()
faust.Worker(app, loglevel="info").execute_from_commandline()
