"""The cluster: its brokers, settings, features and quotas."""
