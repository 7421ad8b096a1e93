"""Right programs of `code/stdio` and `code/repair`, by family."""
