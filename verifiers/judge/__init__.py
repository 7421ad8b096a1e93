"""Judging by a language model."""
