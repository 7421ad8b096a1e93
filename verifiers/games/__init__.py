"""The games verifiers."""
