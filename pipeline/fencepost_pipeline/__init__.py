"""The Spark pipelines. Nothing of them is written yet."""
