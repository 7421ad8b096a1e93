"""`math/math-verify`: the verdict of the library math-verify (sympy underneath), for comparison.

Many trainers pay by it, so recorded runs can be graded again with it, and the flips be looked at. For
rewards take `math/answer`: it makes far fewer errors, at a fraction of the time.

Covers: expressions that cost for ever ("9^{9^{9^9}}"), deep nesting, memory. Most are refused by their
size; the library runs in a process of its own that is killed at a limit of CPU time. If the reference compared
with itself is sound, a submission that exceeds it is wrong, and no fault. Signals are not used, so it
may be called from any thread.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from verigym.canonical import JSON
from verigym.errors import RequestError, SandboxError, TaskError
from verigym.reply import last_answer, spoken
from verigym.sandbox.workers.forkserver import ForkServer
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.references import written_reference
from verigym.verifiers.math.trees import MAX_REPLY_CHARS

_WINDOW = 8000
"""Characters at the end of a reply that math-verify reads."""
_WAIT_S = 20.0
"""Seconds to wait beside the CPU time that a comparison may take."""
_MAX_BRACES = 60
_MAX_PARENTHESES = 6
"""math-verify's grammar takes exponential time in them: ten are past any deadline."""
_TOO_BIG = lazy_pattern(
    r"\d{400}"  # a number of so many digits
    r"|(?:\^|\*\*)\s*[{(]?\s*-?\d{5}"  # an exponent of five digits
    r"|(?:\^|\*\*)\s*[{(]?\s*[\d.]{1,20}\s*[})]?\s*(?:\^|\*\*)\s*[{(]?\s*[\d.]"  # a tower of numbers
    r"|\d{4}\s*[})]?\s*!|!\s*[})]{0,4}\s*!"  # a big factorial, a factorial of a factorial
    r"|\\binom\s*\{[^{}]{0,20}(?:\d{5}|\^)"
    r"|\d[eE][+-]?\d{4}"
    r"|\w{400}"
)


class MathVerifyParams(Struct, frozen=True):
    """Parameters of `MathVerifyVerifier`."""

    strict: Annotated[
        bool, Meta(description="math-verify's strict mode: letters and kinds must agree.")
    ] = True
    cpu_s: Annotated[
        float,
        Meta(gt=0, le=60, description="CPU seconds for one comparison; a slower reply is wrong."),
    ] = 5.0


class MathVerifyVerifier(Verifier[MathVerifyParams]):
    """Score 1 if math-verify takes the reply for the reference, else 0.

    Judged with `correct` or `wrong_answer`; unusable with `no_answer`, `too_big`, `too_slow`, `failed`,
    `too_long` or `not_text`. The reference is that of `math/answer`. Raises RequestError if math-verify
    is not installed.
    """

    id: ClassVar[str] = "math/math-verify"
    version: ClassVar[int] = 1
    about: ClassVar[str] = (
        "The library math-verify must take the reply for the reference; for comparison with "
        "math/answer. Needs pip install 'verigym[math]'."
    )
    evidence: ClassVar[str] = "What math-verify extracts from the end of the reply, and sympy."

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        if find_spec("math_verify") is None:
            raise RequestError(
                "math/math-verify needs math-verify, which is not installed; pip install 'verigym[math]'"
            )
        self._strict = self.settings.strict
        self._cpu_s = self.settings.cpu_s

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """Judge the final answer of a reply as the library math-verify does."""
        golds, _ = written_reference(task)
        if not isinstance(submission, str):
            return unusable("not_text", f"a submission is text, got {type(submission).__name__}")
        if len(submission) > MAX_REPLY_CHARS:
            return unusable("too_long", f"a reply has at most {MAX_REPLY_CHARS} characters")
        text = spoken(submission)
        reply = (last_answer(text) or text).strip()[-_WINDOW:]
        if not reply:
            return unusable("no_answer", "the reply is empty")
        if is_too_big(reply):
            return unusable("too_big", "the reply holds numbers or powers of no sane size")
        for gold in golds:
            if is_too_big(gold):
                raise TaskError(f"task {task.id}: the reference {gold[:80]!r} is too big for math-verify")  # fmt: skip
        reasons: list[str] = []
        for gold in golds:
            reasons.append(self._outcome(task, _in_dollars(gold), _in_dollars(reply)))
            if reasons[-1] == "correct":
                return scored(1.0, "correct", "math-verify takes the answer for the reference")
        if "wrong_answer" in reasons:
            return scored(0.0, "wrong_answer", "math-verify tells the answer from the reference")
        return unusable(reasons[-1], _EVIDENCE[reasons[-1]])

    def _outcome(self, task: Task, gold: str, reply: str) -> str:
        """Return the result of one comparison. Raises TaskError if the reference alone cannot be compared."""
        found = _helper.ask(gold, reply, self._strict, self._cpu_s)
        if found is None or found == "failed":
            # The control: a sound reference makes the trouble the submission's.
            control = _helper.ask(gold, gold, self._strict, self._cpu_s)
            if control != "correct":
                raise TaskError(f"task {task.id}: math-verify cannot compare the reference {gold[:80]!r}")  # fmt: skip
            return found or "too_slow"
        if found == "no_reference":
            raise TaskError(f"task {task.id}: math-verify cannot read the reference {gold[:80]!r}")
        return found


_EVIDENCE = {
    "no_answer": "math-verify finds no answer in the reply",
    "too_slow": "math-verify did not come to an end with this reply; with the reference alone it does",
    "failed": "math-verify gave up on this reply",
}


def is_too_big(text: str) -> bool:
    """Return True if `text` holds what would keep sympy busy: towers, big factorials, deep nesting."""
    braces = parentheses = 0
    for char in text:
        braces += (char in "{[") - (char in "}]")
        parentheses += (char == "(") - (char == ")")
        if braces > _MAX_BRACES or parentheses > _MAX_PARENTHESES:
            return True
    return bool(_TOO_BIG.search(text))


def _in_dollars(text: str) -> str:
    """A bare formula between dollar signs, as math-verify wants it; prose and marked formulas as they are."""
    marked = "$" in text or "\\boxed" in text or "\\(" in text or "\\[" in text
    return text if marked or re.search(r"[A-Za-z]{3,} [A-Za-z]{2,}", text) else f"${text}$"


class _Helper:
    """The process that calls math-verify, started when first needed; one call at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._server: ForkServer | None = None
        self._worker: tuple[int, socket.socket] | None = None

    def ask(self, gold: str, reply: str, strict: bool, cpu_s: float) -> str | None:
        """The outcome of one comparison; None if it took more CPU time than `cpu_s`, or too much memory.

        Raises SandboxError if no process can be started, or none gets time on a busy machine.
        """
        asked = {"gold": gold, "reply": reply, "strict": strict, "cpu_s": cpu_s}
        line = json.dumps(asked).encode() + b"\n"
        with self._lock:
            server, (pid, sock) = self._ready()
            try:
                sock.settimeout(_WAIT_S + 4 * cpu_s)
                sock.sendall(line)
                answer = _line(sock)
            except TimeoutError as error:
                self._end(server, pid, sock)
                raise SandboxError(
                    "math-verify got no time to answer; is the machine busy?"
                ) from error
            except OSError:
                answer = b""
            if not answer:
                self._end(server, pid, sock)
                return None
        found: dict[str, Any] = json.loads(answer)
        return str(found["outcome"])

    def _end(self, server: ForkServer, pid: int, sock: socket.socket) -> None:
        server.kill(pid)
        sock.close()
        self._worker = None

    def _ready(self) -> tuple[ForkServer, tuple[int, socket.socket]]:
        if self._owner != os.getpid():  # a fork inherits neither the process nor its connection
            self._owner, self._server, self._worker = os.getpid(), None, None
        try:
            if self._server is None:
                self._server = ForkServer("verigym.verifiers.math.math_verify_worker")
            if self._worker is None:
                self._worker = self._server.fork()
        except OSError as error:
            self._server = None
            raise SandboxError(f"no process for math-verify could be started: {error}") from error
        return self._server, self._worker


def _line(sock: socket.socket) -> bytes:
    """One line from `sock`; empty if it closes before. Raises TimeoutError."""
    found = b""
    while not found.endswith(b"\n"):
        chunk = sock.recv(4096)
        if not chunk:
            return b""
        found += chunk
    return found


_helper = _Helper()
