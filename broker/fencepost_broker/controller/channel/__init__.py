"""Channel between brokers and the controller, in one process or in two.

local.py             a controller in this process
remote.py            a controller in another process
pending_requests.py  requests to it that have no answer yet
broker_lifecycle.py  registration, heartbeats, controlled shutdown (BrokerLifecycleManager)
reachability.py      whether another process answers, logged once
standstill.py        whether the controller's process stood still
"""
