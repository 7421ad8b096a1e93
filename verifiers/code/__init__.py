"""The code verifiers."""
