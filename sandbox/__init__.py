"""Running untrusted programs; one backend a file."""

if __name__ != "verigym.sandbox":
    raise ImportError(
        "import this folder as verigym.sandbox; the bare name 'sandbox' belongs to other packages"
    )
