"""Turning rewards into advantages; one family of estimators a file."""
