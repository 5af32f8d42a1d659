"""Metrics and spans sent to a receiver of OpenTelemetry's protocol (OTLP), by HTTP and protobuf.

sending.py            all of it, as the settings say
receiver.py           posts messages, and says when it cannot
resource.py           what all messages say about this broker
metrics.py            the metrics of Prometheus, sent again and again
traces.py             spans, sent as they end
spans.py              a span for each request of the sample
transaction_spans.py  the spans of transactions, which are the parents of their requests'
trace_context.py      the spans of clients, which headers of records name

It needs ``fencepost[otlp]``, which has the messages. The requests are those of aiohttp, so that no
thread waits for a receiver.
"""
