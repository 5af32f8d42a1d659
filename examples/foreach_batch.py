r"""Spark's foreachBatch writes into a database and a topic together, by two-phase commit (KIP-939).

    fencepost up --topic orders:2 --topic stock:1 \
        -c unstable.api.versions.enable=true -c transaction.two.phase.commit.enable=true &
    seq 1 20 | sed 's/.*/book/' | fencepost produce -t orders
    python examples/foreach_batch.py --db stock.db --checkpoint /tmp/stock

Each order names a product. The database counts how many of each are sold, and the topic `stock` is
told of every change. Spark runs a batch again if it does not know that the batch is done, so the
database also has the number of the last batch, and the state of its transaction.

Flink's sink does the same: the transaction is prepared when the batch is written, the commit of the
database is the checkpoint, and after a crash the transaction is completed as the database says.

    fencepost consume -t stock -e --isolation read_committed -f '%k %s\n'
"""

import argparse
import sqlite3
from contextlib import suppress
from typing import Self

from fencepost_client.blocking import Producer
from fencepost_pipeline.spark import register
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

TOPIC = "stock"
SCHEMA = """
CREATE TABLE IF NOT EXISTS sold (product TEXT PRIMARY KEY, number INTEGER);
CREATE TABLE IF NOT EXISTS progress (only INTEGER PRIMARY KEY, batch INTEGER, state TEXT);
INSERT OR IGNORE INTO progress VALUES (1, -1, '');
"""


class Stock:
    """The function for foreachBatch: a batch is in the database and in the topic, or in neither."""

    def __init__(self, bootstrap: str, db: str) -> None:
        self.database = sqlite3.connect(db, check_same_thread=False)  # Spark calls from a thread
        self.database.executescript(SCHEMA)
        self.producer = Producer(
            bootstrap,
            transactional_id="stock",
            transaction_two_phase_commit_enable=True,
            keep_prepared_txn=True,
        )

    def __enter__(self) -> Self:
        self.producer.start()
        self.producer.complete(self.progress()[1])  # what a crash has left
        return self

    def __exit__(self, *exception: object) -> None:
        self.producer.close()
        self.database.close()

    def progress(self) -> tuple[int, str]:
        """The last batch of the database, and the transaction that belongs to it."""
        batch, state = self.database.execute("SELECT batch, state FROM progress").fetchone()
        return batch, state

    def __call__(self, orders: DataFrame, batch: int) -> None:
        """Add up a batch, unless it is in the database already."""
        if batch <= self.progress()[0]:
            return
        with self.database:  # commits at the end, rolls back on an exception
            self.producer.begin()
            for product, added in orders.groupBy("value").count().collect():
                [number] = self.database.execute(
                    "INSERT INTO sold VALUES (?, ?) ON CONFLICT DO UPDATE "
                    "SET number = number + excluded.number RETURNING number",
                    (product.decode(), added),
                ).fetchone()
                self.producer.send(TOPIC, b"%d" % number, key=bytes(product))
            state = self.producer.prepare()
            self.database.execute("UPDATE progress SET batch = ?, state = ?", (batch, str(state)))
        self.producer.complete(state)


def start(spark: SparkSession, stock: Stock, bootstrap: str, checkpoint: str) -> StreamingQuery:
    """The query; it ends when all orders are in the stock."""
    orders = spark.readStream.format("fencepost").option("kafka.bootstrap.servers", bootstrap)
    rows = orders.option("subscribe", "orders").option("startingOffsets", "earliest").load()
    return (
        rows.writeStream.foreachBatch(stock)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Count orders in a database and a topic.")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument("--db", default="stock.db", help="the database's file (stock.db)")
    parser.add_argument("--checkpoint", default="checkpoint", help="Spark's folder (checkpoint)")
    options = parser.parse_args()
    session = SparkSession.builder.config("spark.log.level", "ERROR").getOrCreate()
    register(session)
    with suppress(KeyboardInterrupt), Stock(options.bootstrap, options.db) as stock:
        start(session, stock, options.bootstrap, options.checkpoint).awaitTermination()
