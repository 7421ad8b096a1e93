"""`restore_signals`: undo what whoever started this process did to its signals.

A shell without job control starts `command &` with SIGINT and SIGQUIT ignored, `nohup` ignores SIGHUP,
some inits of containers ignore more, and some launchers block signals. All of it outlives execve(2), so
everything started from here would be deaf as well: a program in the background could not be interrupted.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable

# The interpreter ignores these two itself, and `subprocess` gives children the default back.
_PYTHON_IGNORES = frozenset({signal.SIGPIPE, signal.SIGXFSZ})


def restore_signals(numbers: Iterable[int] | None = None) -> None:
    """Unblock `numbers` (default: all signals) and give those that are ignored their default again.

    SIGINT raises KeyboardInterrupt again. Signals with a handler keep it. Main thread only.
    """
    wanted = signal.valid_signals() if numbers is None else set(numbers)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, wanted)
    for number in wanted - _PYTHON_IGNORES:
        if signal.getsignal(number) is signal.SIG_IGN:
            is_interrupt = number == signal.SIGINT
            signal.signal(number, signal.default_int_handler if is_interrupt else signal.SIG_DFL)
