"""Credit, losses and the training loop."""

if __name__ != "verigym.trainers":
    raise ImportError(
        "import this folder as verigym.trainers; the bare name 'trainers' belongs to other packages"
    )
