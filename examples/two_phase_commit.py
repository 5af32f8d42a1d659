r"""Two-phase commit: a database and Kafka commit together, through crashes (KIP-939).

    fencepost up -c unstable.api.versions.enable=true -c transaction.two.phase.commit.enable=true &
    python examples/two_phase_commit.py --orders 20 --db shop.db

A shop writes each order into its database and into a topic, and both have to have it or neither.
There is no outbox: the order goes to Kafka while the transaction of the database is open.

1. The orders are inserted into the database, which does not commit them yet.
2. The same orders are sent in a transaction of Kafka, and it is prepared: all records are written,
   and the transaction does not time out. A short text, its state, identifies it.
3. The state is written into the database, and the database commits. This decides for both.
4. Kafka commits.

After a crash, the next start asks Kafka for the transaction that is still open, and compares it
with the state in the database. If they are equal, the database has committed (3), and Kafka
commits. If not, the database has rolled back, and Kafka aborts. Kill -9 this program whenever you
like, and start it again. Only one instance may run at a time: a second one would complete the
transaction of the first.

    fencepost consume -t placed-orders -e --isolation read_committed -f '%k %s\n'
"""

import argparse
import asyncio
import sqlite3
from contextlib import closing, suppress

from fencepost_client import Admin, NewTopic, Producer, TopicAlreadyExistsError

TOPIC = "placed-orders"
ORDERS_EACH = 5

SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, customer TEXT, cents INTEGER);
CREATE TABLE IF NOT EXISTS prepared (only INTEGER PRIMARY KEY CHECK (only = 1), state TEXT);
INSERT OR IGNORE INTO prepared VALUES (1, '');
"""


def prepared_state(database: sqlite3.Connection) -> str:
    """The transaction of Kafka that belongs to the last commit of the database."""
    [state] = database.execute("SELECT state FROM prepared").fetchone()
    return str(state)


async def place_orders(producer: Producer, database: sqlite3.Connection, numbers: range) -> None:
    """Write some orders into the database and into the topic."""
    with database:  # commits at the end, rolls back on an exception
        producer.begin()
        for number in numbers:
            order = (number, f"customer-{number % 7}", 100 + number)
            database.execute("INSERT INTO orders VALUES (?, ?, ?)", order)
            await producer.send(TOPIC, b'{"order": %d, "cents": %d}' % (number, 100 + number))
        state = await producer.prepare()
        database.execute("UPDATE prepared SET state = ?", [str(state)])
    await producer.complete(state)


async def main(bootstrap: str, db: str, orders: int) -> None:
    """Complete what a crash has left, and place orders until there are so many."""
    async with Admin(bootstrap) as admin:
        with suppress(TopicAlreadyExistsError):
            await admin.create_topics([NewTopic(TOPIC, partitions=3)])
    with closing(sqlite3.connect(db)) as database:
        database.executescript(SCHEMA)
        async with Producer(
            bootstrap,
            transactional_id="shop",
            transaction_two_phase_commit_enable=True,
            keep_prepared_txn=True,
        ) as producer:
            await producer.complete(prepared_state(database))
            [done] = database.execute("SELECT coalesce(max(id), 0) FROM orders").fetchone()
            for first in range(done + 1, orders + 1, ORDERS_EACH):
                some = range(first, min(first + ORDERS_EACH, orders + 1))
                await place_orders(producer, database, some)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Commit a database and Kafka together.")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument("--db", default="shop.db", help="the database's file (shop.db)")
    parser.add_argument("--orders", type=int, default=20, metavar="N", help="so many in all (20)")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(main(options.bootstrap, options.db, options.orders))
