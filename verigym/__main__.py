"""`python -m verigym`: the command line where the script is not on PATH."""

from verigym.cli.main import run

run()
