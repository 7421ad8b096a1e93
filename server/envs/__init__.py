"""Environments as sessions: the table of sessions here, the environments in host processes."""
