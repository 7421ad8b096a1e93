"""`restore_signals`: undo signal settings inherited from the parent process.

A shell without job control starts `command &` with SIGINT and SIGQUIT ignored, `nohup` ignores SIGHUP,
some container inits ignore more, and some launchers block signals. These settings survive execve(2), so
child processes would inherit ignored signals, and a background program could not be interrupted.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable

# The interpreter ignores these two itself, and `subprocess` gives children the default back.
_PYTHON_IGNORES = frozenset({signal.SIGPIPE, signal.SIGXFSZ})


def restore_signals(numbers: Iterable[int] | None = None) -> None:
    """Unblock `numbers` (default: all signals) and reset ignored ones to their default action.

    SIGINT raises KeyboardInterrupt again. Signals with a handler keep it. Call from the main thread only.
    """
    wanted = signal.valid_signals() if numbers is None else set(numbers)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, wanted)
    for number in wanted - _PYTHON_IGNORES:
        if signal.getsignal(number) is signal.SIG_IGN:
            is_interrupt = number == signal.SIGINT
            signal.signal(number, signal.default_int_handler if is_interrupt else signal.SIG_DFL)
