"""Brokers and controllers, assembled and run (Kafka: BrokerServer, ControllerServer)."""
