"""The text verifiers."""
