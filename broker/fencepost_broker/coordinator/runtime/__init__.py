"""The coordinators at work: their machines, connected to logs, time and requests.

coordinator_runtime.py  all coordinators of a broker: which has which id, loading, effects, time
shard.py                one machine, and the partition that holds its records
marker_sender.py        sends WriteTxnMarkers until each partition has acknowledged
remote_verification.py  AddPartitionsToTxn to coordinators in other brokers (KIP-890)
peer_brokers.py         the other brokers of the cluster, and requests to them
explaining.py           what a transaction waits for
known_cluster.py        partitions, leaders and features, as a transaction coordinator asks for them
group_wiring.py         what a group coordinator is made from
"""
