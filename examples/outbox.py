r"""The outbox: what a database has committed is published exactly once, through crashes.

    fencepost up &
    python examples/outbox.py --orders 20 --db shop.db

A shop stores an order in its database and has to tell the others by a record. A crash between the
two must neither lose the record nor tell of an order that was rolled back. So the shop writes both
into the database, in one transaction of the database: the order, and what is to be told of it, in
the table `outbox`. The relay reads that table and publishes its rows.

A crash of the relay between publishing rows and noting that would publish them twice. So it notes
that in Kafka, in the same transaction as the records: as a committed offset of a group, for a topic
that has no records. The next relay begins there. Kill -9 this program whenever you like, and start
it again without `--orders` to publish the rest.

Row ids must be in the order in which they are committed, as SQLite's are: it writes one transaction
after the other. Elsewhere (PostgreSQL), a row with a lower id may become visible later.

    fencepost consume -t placed-orders -e --isolation read_committed -f '%k %s\n'
"""

import argparse
import asyncio
import sqlite3
from contextlib import closing, suppress

from fencepost_client import (
    Admin,
    Consumer,
    NewTopic,
    Producer,
    TopicAlreadyExistsError,
    TopicPartition,
)

RELAY = "outbox-relay"
NEXT_ROW = TopicPartition("outbox-position", 0)
"""Its committed offset is the id of the first row that is not published."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, customer TEXT, cents INTEGER);
CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT, key BLOB, value BLOB
);
"""


def place_order(database: sqlite3.Connection, customer: str, cents: int) -> None:
    """What the shop does: the order and its record are there together, or neither."""
    with database:
        order = database.execute(
            "INSERT INTO orders (customer, cents) VALUES (?, ?)", (customer, cents)
        ).lastrowid
        database.execute(
            "INSERT INTO outbox (topic, key, value) VALUES ('placed-orders', ?, ?)",
            (customer.encode(), b'{"order": %d, "cents": %d}' % (order or 0, cents)),
        )


async def relay(bootstrap: str, database: sqlite3.Connection) -> None:
    """Publish what is in the outbox, until it is empty."""
    # Starting it aborts what a relay before has left open, and fences one that still runs.
    producer = Producer(bootstrap, transactional_id=RELAY)
    group = Consumer(
        bootstrap, group_id=RELAY, enable_auto_commit=False, isolation_level="read_committed"
    )
    async with producer, group:
        committed = await group.committed([NEXT_ROW])
        next_row = committed[NEXT_ROW].offset if NEXT_ROW in committed else 0
        while True:
            with database:
                database.execute("DELETE FROM outbox WHERE id < ?", (next_row,))
            rows = database.execute(
                "SELECT id, topic, key, value FROM outbox ORDER BY id LIMIT 10"
            ).fetchall()
            if not rows:
                return
            next_row = rows[-1][0] + 1
            async with producer.transaction() as transaction:
                for _, topic, key, value in rows:
                    await transaction.send(topic, value, key=key)
                await transaction.send_offsets({NEXT_ROW: next_row}, group.group_metadata())
            print(f"{len(rows)} records published; the next row is {next_row}", flush=True)


async def main(bootstrap: str, db: str, orders: int) -> None:
    """Create what is not there, place some orders, and relay what is in the outbox."""
    async with Admin(bootstrap) as admin:
        with suppress(TopicAlreadyExistsError):
            await admin.create_topics([NewTopic("placed-orders", 2), NewTopic(NEXT_ROW.topic, 1)])
    with closing(sqlite3.connect(db)) as database:
        database.executescript(SCHEMA)
        for number in range(orders):
            place_order(database, f"customer-{number % 7}", 100 + number)
        await relay(bootstrap, database)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Publish a database's outbox exactly once.")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument("--db", default="shop.db", help="the database's file (shop.db)")
    parser.add_argument("--orders", type=int, default=0, metavar="N", help="place N orders first")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(main(options.bootstrap, options.db, options.orders))
