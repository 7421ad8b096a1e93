"""Parts of the repositories of `code/repo`, without mistakes."""
