"""Celery with Kafka as the broker of its tasks. A task is acknowledged after it has run."""

import os
import threading

from celery import Celery
from confluent_kafka import Consumer, Producer

SERVERS = {"bootstrap.servers": os.environ["BOOTSTRAP"]}
app = Celery(
    "invoicing",
    broker=[f"confluentkafka://{server}" for server in os.environ["BOOTSTRAP"].split(",")],
)
app.conf.task_acks_late = True
app.conf.broker_connection_retry_on_startup = True
producer = Producer(SERVERS)


@app.task
def invoice(order: str) -> None:
    producer.produce("invoices", f"invoice for {order}")
    producer.flush()


def give_tasks() -> None:
    """Make a task of each order."""
    reading = {"group.id": "shop", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer(SERVERS | reading)
    consumer.subscribe(["orders"])
    while True:
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            invoice.delay(message.value().decode())
            consumer.commit(message)


if __name__ == "__main__":
    threading.Thread(target=give_tasks, daemon=True).start()
    app.worker_main(["worker", "--pool=solo", "--loglevel=info"])
