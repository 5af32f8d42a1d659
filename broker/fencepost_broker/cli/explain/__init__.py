"""What only Fencepost tells about transactions, asked of running brokers through the Admin client.

queries.py   what a transaction waits for, and which one holds a last stable offset
command.py   the subcommand ``explain`` of ``fencepost transactions``
"""
