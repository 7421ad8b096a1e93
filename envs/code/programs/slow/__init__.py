"""Slow versions of the functions of `code/faster`."""
