"""The runtime of the coordinators: it connects their machines to logs, time and requests.

coordinator_runtime.py  all coordinators of a broker: look-up by id, loading, effects, time
shard.py                one machine, and the partition that holds its records
marker_sender.py        writes and sends markers until each partition has its own
remote_verification.py  AddPartitionsToTxn to coordinators in other brokers (KIP-890)
peer_brokers.py         the other brokers of the cluster, and requests to them
explaining.py           explanations of what a transaction is waiting for
known_cluster.py        partitions, leaders and features for the transaction coordinators
group_wiring.py         creation of group coordinators
last_clients.py         the last client of each transactional id
coordinators.py         lazy creation of the runtime; metadata changes reach it here
"""
