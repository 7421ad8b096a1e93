"""The verifiers, one family a folder, one verifier a file."""

if __name__ != "verigym.verifiers":
    raise ImportError(
        "import this folder as verigym.verifiers; the bare name 'verifiers' belongs to other packages"
    )
