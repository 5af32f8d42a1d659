"""The controller: the machine that decides about the cluster (Kafka: QuorumController).

``machine.py`` has the ``Controller``. Each decision has a module (``create_topics``,
``alter_partition``, ``elect_leaders`` …) and gets a ``context``. ``leadership`` changes partitions
when brokers come and go, ``placement`` chooses the brokers of new replicas. Decisions are written
as records of the metadata log (``metadata/``). ``channel/`` connects brokers with the controller.
"""
