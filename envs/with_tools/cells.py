"""Cells of Python that run one after the other in the sandbox, and keep their variables.

No interpreter outlives a step: each step starts one in the sandbox, runs the earlier cells again and then the
new one, so a snapshot is a value, and nothing is held between turns that could leak or be lost. That takes a few
milliseconds and whatever the earlier cells take.

For the same cells to do the same each time, hashes and random numbers are seeded, the functions of
`time`, `datetime.now` and the sources of entropy are replaced, and a cell that does not come to its
end (time, memory, output) is undone. Not covered: what `id` gives, process ids and files of the system,
which a program can print if it wants its observations to differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from verigym.env import CHARSET
from verigym.errors import SandboxError
from verigym.sandbox.job import JobStatus, Limits, Result
from verigym.verdict import Status, VerifierFault, fault

CELL_S = 5.0
SHOWN_CHARS = 2000

_LIMITS = Limits(wall_s=120.0, cpu_s=60.0, memory_mib=512, output_bytes=1 << 18)
_ENV = {"PYTHONHASHSEED": "0"}
# As in `<function f at 0x7f2c>`: the next run has another.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+>")
_UNDONE = {
    JobStatus.TIME_LIMIT: f"it was stopped after {CELL_S:g} seconds",
    JobStatus.MEMORY_LIMIT: "it used too much memory",
    JobStatus.OUTPUT_LIMIT: "it printed too much",
    JobStatus.DISK_LIMIT: "it wrote too much to disk",
    JobStatus.SIGNAL: "it ended the interpreter",
    JobStatus.NONZERO_EXIT: "it ended the interpreter",
    JobStatus.OK: "it ended the interpreter",
}

# Runs before the first cell. A program that looks for it finds it, and can undo it: see the module.
_PREPARE = """
def _prepare():
    import datetime, os, random, secrets, sys, time, uuid

    entropy = random.Random(1)

    class Random(random.Random):
        def __init__(self, x=None):
            super().__init__(entropy.getrandbits(64) if x is None else x)

        def seed(self, a=None, version=2):
            super().seed(entropy.getrandbits(64) if a is None else a, version)

    random.Random = random.SystemRandom = Random
    ours = Random(0)
    for name in random.__all__:
        if callable(getattr(ours, name, None)):
            setattr(random, name, getattr(ours, name))

    os.urandom = entropy.randbytes
    os.getrandom = lambda size, flags=0: entropy.randbytes(size)
    uuid.uuid1 = uuid.uuid4 = lambda *_: uuid.UUID(bytes=entropy.randbytes(16), version=4)
    secrets.randbits, secrets.randbelow = entropy.getrandbits, entropy.randrange
    secrets.choice = entropy.choice
    secrets.token_bytes = lambda size=None: entropy.randbytes(size or 32)
    secrets.token_hex = lambda size=None: entropy.randbytes(size or 32).hex()
    if "numpy" in sys.modules:  # else it takes its seed from secrets
        sys.modules["numpy"].random.seed(0)

    now = [1_700_000_000_000]

    def tick(*_):
        now[0] += 1
        return now[0] / 1000

    for name in "time monotonic perf_counter process_time thread_time clock_gettime".split():
        setattr(time, name, tick)
        setattr(time, name + "_ns", lambda *_: int(tick() * 1000) * 1_000_000)
    for name in ("gmtime", "localtime", "ctime"):
        of = getattr(time, name)
        setattr(time, name, lambda s=None, of=of: of(tick() if s is None else s))
    for name in ("strftime", "asctime"):
        of = getattr(time, name)
        size = int(name == "strftime")
        setattr(time, name, lambda *a, of=of, size=size: of(*a, *([] if a[size:] else [time.gmtime()])))

    kinds = {}

    class Same(type):
        def __instancecheck__(cls, one):
            return isinstance(one, kinds[cls]) if cls in kinds else super().__instancecheck__(one)

    class Moment(datetime.datetime, metaclass=Same):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(tick(), tz or datetime.timezone.utc).replace(tzinfo=tz)

        @classmethod
        def today(cls):
            return cls.now()

        utcnow = today

    class Day(datetime.date, metaclass=Same):
        @classmethod
        def today(cls):
            return cls.fromisoformat(Moment.now().date().isoformat())

    Moment.__name__, Day.__name__ = "datetime.datetime", "datetime.date"
    kinds.update({Moment: datetime.datetime, Day: datetime.date})
    datetime.datetime, datetime.date = Moment, Day


_prepare()
del _prepare
"""


@dataclass(frozen=True)
class Cells:
    """The state: the cells that ran, oldest first, and what the last action showed."""

    ran: tuple[str, ...] = ()
    shown: str = ""


def run(state: Cells, code: str) -> Cells:
    """Return the state after the cell `code`. Raises VerifierFault if the sandbox failed."""
    from verigym.sandbox.local import default_sandbox

    try:
        with default_sandbox().session("python", limits=_LIMITS, env=_ENV) as session:
            for cell in (_PREPARE, *state.ran):
                if session.alive:
                    session.run(cell)
            if not session.alive:
                return replace(state, shown="The block was not run: no time is left.")
            result = session.run(code, wall_s=CELL_S)
            alive = session.alive
    except SandboxError as error:
        raise VerifierFault(fault(Status.INFRA, "sandbox_error", str(error))) from error
    if result.status is JobStatus.SANDBOX_ERROR:
        raise VerifierFault(fault(Status.INFRA, "sandbox_error", result.detail))
    if alive and result.status in (JobStatus.OK, JobStatus.NONZERO_EXIT):
        return Cells((*state.ran, code), _output(result))
    why = _UNDONE.get(result.status, "it failed")
    return replace(state, shown=f"The block was undone: {why}.")


def _output(result: Result) -> str:
    """Return the output of a cell, then the last line of its error; limited to the characters and
    the length that observations may have."""
    text = result.stdout.decode("utf-8", "replace")
    if result.status is JobStatus.NONZERO_EXIT:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
        text = f"{text}\n{lines[-1]}" if lines else text
    plain = "".join(c if c in CHARSET else "?" for c in _ADDRESS.sub(" at 0x0>", text)).strip()
    if len(plain) > SHOWN_CHARS:
        plain = f"{plain[:SHOWN_CHARS]} ... (cut: {len(plain)} characters in all)"
    return plain or "(no output)"
