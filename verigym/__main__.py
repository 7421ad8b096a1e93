"""`python -m verigym`: the command line, in case the script is not on PATH."""

from verigym.cli.main import run

run()
