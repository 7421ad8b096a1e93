"""Runs a snippet of a page as it stands: python run_snippet.py < SNIPPET, as JSON text."""

import contextlib
import json
import sys

snippet = json.load(sys.stdin)
with contextlib.redirect_stdout(sys.stderr):
    exec(compile(snippet, "snippet", "exec"), {})
print(json.dumps("ran"))
