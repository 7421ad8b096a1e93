"""Measures `judge/rubric` with the worst possible judge, and writes its card.

    python benchmarks/judge_rules.py [--card verifiers/judge/cards/rubric]

The endpoint says yes to everything but the verifier's own canaries, so whatever the rules let through
is accepted. What is measured are the rules, not a model: wrong answers that argue are not among the
seeds, since such a judge accepts them all.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from verigym.verifiers.judge.rubric import CANARIES


class Affirmative(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint that accepts everything but canaries."""

    def do_POST(self) -> None:
        """One verdict."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        user = body["messages"][-1]["content"]
        marker = re.search(r"\[QUESTION (M[0-9a-f]+)\]", user)
        verdict = "no" if any(f"]\n{canary}\n[" in user for canary in CANARIES) else "yes"
        said = json.dumps({"marker": marker[1] if marker else "", "verdict": verdict})
        data = json.dumps(
            {"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def main() -> int:
    """Serve, audit, stop."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--card", type=Path, help="as of `verigym audit`")
    card = parser.parse_args().card
    server = ThreadingHTTPServer(("127.0.0.1", 0), Affirmative)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    command = [sys.executable, "-m", "verigym", "audit", "judge/rubric", "--workers", "2"]
    command += ["--param", f"base_url={url}", "--param", "model=says-yes-but-to-canaries"]
    try:
        done = subprocess.run([*command, *(["--card", str(card)] if card else [])], check=False)
    finally:
        server.shutdown()
        server.server_close()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
