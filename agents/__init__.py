"""Policies and the episode loop."""

if __name__ != "verigym.agents":
    raise ImportError(
        "import this folder as verigym.agents; the bare name 'agents' belongs to other packages"
    )
