"""How brokers reach the controller, in their own process or in another one.

local.py             a controller in this process
remote.py            a controller in another process
pending_requests.py  requests to it that are not answered yet
broker_lifecycle.py  registration, heartbeats, controlled shutdown (Kafka: BrokerLifecycleManager)
reachability.py      whether another process answers, logged once
standstill.py        whether the controller itself stood still
"""
