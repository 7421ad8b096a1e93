"""Prints the digest of some plays: `python -m verigym.envs.check.replay ID SEEDS`."""

import sys

from verigym.envs.check.subject import Subject, transcript

if __name__ == "__main__":
    sys.stdout.write(transcript(Subject(sys.argv[1]), int(sys.argv[2])))
