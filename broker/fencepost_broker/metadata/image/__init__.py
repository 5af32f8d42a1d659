"""The metadata image: what the records of the metadata log say, taken together."""
