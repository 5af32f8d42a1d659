"""Metrics for Prometheus, read from the state of a broker when they are asked for.

figure.py     what a figure is
kafka.py      figures under the names that the usual JMX exporter configuration gives Kafka's
requests.py   those about requests and topics
own.py        figures that Kafka does not have
reading.py    all of them, read at one moment
text.py       a reading in Prometheus's text format
page.py       docs/reference/metrics.md
"""
