"""The code environments."""
