"""Instruction following: kinds of constraint on a text, each with a check, a generator and a writer."""
