"""The chain that changes numbers before the functions of `code/tests` get them."""
