"""The report of a training run: one HTML file (build.py)."""

from verigym.trainers.report.build import build

__all__ = ["build"]
