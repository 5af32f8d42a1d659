"""What only a Fencepost tells of transactions, asked of running brokers over the SDK's Admin.

explaining.py      what a transaction waits for, and who holds a last stable offset
explained_text.py  the same for people
explain_action.py  the subcommand ``explain`` of ``fencepost transactions``
"""
