"""The Open Reward Standard: environments as tools, for clients of `openreward` (docs/ors.md)."""
