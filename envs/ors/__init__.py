"""Environments that a server of the Open Reward Standard plays; `client.py` speaks to it, `env.py` is the environment."""
