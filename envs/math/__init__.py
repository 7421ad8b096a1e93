"""The math environments."""
