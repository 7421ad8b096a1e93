"""The program that runs inside a job's container; keeper.py is its main module."""
