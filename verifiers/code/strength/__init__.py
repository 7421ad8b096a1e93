"""Test strength: how many wrong programs a task's tests let through, and tests that let none."""
