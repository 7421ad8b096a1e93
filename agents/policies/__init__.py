"""Policies, the sources of completions; one per file."""
