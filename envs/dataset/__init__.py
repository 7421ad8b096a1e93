"""Datasets as environments: rows of a file or of a hub, described in a few lines of TOML."""

from verigym.envs.dataset.env import Dataset, load

__all__ = ["Dataset", "load"]
