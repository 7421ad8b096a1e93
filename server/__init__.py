"""The HTTP service."""

if __name__ != "verigym.server":
    raise ImportError(
        "import this folder as verigym.server; the bare name 'server' belongs to other packages"
    )
