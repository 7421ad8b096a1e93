"""The tool verifiers: calls, and the state that calls leave behind."""
