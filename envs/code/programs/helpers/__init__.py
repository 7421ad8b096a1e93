"""Helpers of the parts of `code/repo`."""
