"""Casework: requests of many people, decided by ranked rules that are looked up, over several days."""
