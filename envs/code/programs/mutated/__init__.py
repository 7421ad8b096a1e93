"""Functions of `code/tests`, without mistakes."""
