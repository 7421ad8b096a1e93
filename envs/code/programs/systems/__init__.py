"""Programs of the systems that `code/stdio`, `code/functions` and `code/repair` ask about from level 8 on."""
