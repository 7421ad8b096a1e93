"""Helper `clean`."""


# The program:
def clean(name):
    """A name in one form: small letters, no blanks around it, one dash for each blank within."""
    return name.strip().lower().replace(" ", "-")
