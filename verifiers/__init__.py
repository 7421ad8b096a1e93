"""Verifiers: one folder per family, one file per verifier."""

if __name__ != "verigym.verifiers":
    raise ImportError(
        "import this folder as verigym.verifiers; the bare name 'verifiers' belongs to other packages"
    )
