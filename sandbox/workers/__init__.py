"""Worker processes of this project: forked from a clean process, spoken to in frames, killed when late.

The verifier pool and the hosts of environments both run their code in them. They are trusted; programs
of a policy run in the sandbox instead.
"""
