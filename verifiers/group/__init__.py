"""Verifiers of groups: all members are judged at once, by questions about them and pairs of them."""
