"""What administrators ask running brokers about transactions, Fencepost's or Apache Kafka's.

bootstrap.py       where the cluster is
transactions.py    list, describe, describe the producers of a partition
hanging.py         transactions that no coordinator will end, and ending them
explaining.py      what a transaction waits for, and who holds a last stable offset
text.py            the same for people: tables, times
explained_text.py  an explanation for people
screen.py          the subcommands of ``fencepost transactions``
"""
