"""The settings themselves, declared in one table for each area."""
