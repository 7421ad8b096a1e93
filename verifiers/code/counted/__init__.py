"""A step-counting interpreter of a small part of Python; it runs in the sandbox."""
