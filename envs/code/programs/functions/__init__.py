"""Right programs of `code/functions`, by family."""
