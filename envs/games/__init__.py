"""The games environments."""
