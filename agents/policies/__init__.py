"""Where completions come from; one policy a file."""
