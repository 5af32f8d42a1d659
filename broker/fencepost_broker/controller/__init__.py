"""The controller: the machine that decides about the cluster (Kafka: QuorumController).

``machine.py`` is the ``Controller``. Each decision has a module (``create_topics``,
``alter_partition``, ``elect_leaders`` …) and is made from a ``context``. ``leadership`` says what
becomes of partitions when brokers come and go, ``placement`` which brokers get replicas. What it
decides is written as records of the metadata log (``metadata/``). ``channel/`` is how brokers reach
the controller.
"""
