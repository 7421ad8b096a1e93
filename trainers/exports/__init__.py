"""Adapters that give environments to trainers and evaluators of other projects, one package a file.

`rows.py` names tasks as plain rows, `play.py` plays one as text, `tokens.py` in token ids. The other files are the
adapters; each imports its package when it is used, and states the version that it was tested with. docs/exports.md
is the index.
"""
