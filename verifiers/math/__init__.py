"""The math verifiers."""
