"""Brokers and controllers, put together and run (Kafka: BrokerServer, ControllerServer)."""
