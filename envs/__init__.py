"""The environments, one family a folder, one environment a file."""

if __name__ != "verigym.envs":
    raise ImportError(
        "import this folder as verigym.envs; the bare name 'envs' belongs to other packages"
    )
