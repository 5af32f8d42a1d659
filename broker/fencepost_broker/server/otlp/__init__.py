"""Metrics sent to a receiver of OpenTelemetry's protocol (OTLP), by HTTP and protobuf.

receiver.py   posts messages, and says when it cannot
resource.py   what all messages say about this broker
metrics.py    the metrics of Prometheus, sent again and again

It needs ``fencepost[otlp]``, which has the messages. The requests are those of aiohttp, so that no
thread waits for a receiver.
"""
