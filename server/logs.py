"""The service's log: one line an event, JSON for programs or text for people, on standard error.

    configure("json", "info")
    with_id("a1b2")  # every line of this request carries it

A line is written by a thread of its own: where whoever reads the log stalls, lines are dropped and
counted, and requests go on. No line holds a body, a key, a query or a path with ids in it.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import deque
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, TextIO

import msgspec

from verigym.errors import ConfigError
from verigym.printable import escape_controls, printable

LEVELS: Final = ("debug", "info", "warning", "error")

_MAX_LINES = 10_000
_GATHER_S = 0.02
"""Lines of so long are written together: under load a wake-up for each would cost more than the line."""
_FLUSH_S = 2.0

_request: ContextVar[str] = ContextVar("verigym_request_id", default="")


def with_id(id: str) -> None:
    """Have lines of this context, and of tasks and threads started from it, carry `id`."""
    _request.set(id)


def fields(**values: Any) -> dict[str, Any]:
    """Return `extra` of a log call, whose values become fields of a JSON line."""
    return {"verigym_fields": values}


class JsonFormatter(logging.Formatter):
    """`time` (UTC), `level`, `logger`, `message`, `request` where there is one, and `fields`."""

    def format(self, record: logging.LogRecord) -> str:
        stamp = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": stamp.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request := _request.get():
            line["request"] = request
        line.update(getattr(record, "verigym_fields", {}))
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        try:
            return escape_controls(msgspec.json.encode(line, enc_hook=str).decode())
        except UnicodeEncodeError:  # half of a surrogate pair, in what a verifier raised
            line = {
                name: _sendable(value) if isinstance(value, str) else value
                for name, value in line.items()
            }
            return escape_controls(msgspec.json.encode(line, enc_hook=str).decode())


class TextFormatter(logging.Formatter):
    """`12:00:01.250 info  message name=value request=id`."""

    def format(self, record: logging.LogRecord) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        values = dict(getattr(record, "verigym_fields", {}))
        if request := _request.get():
            values["request"] = request
        tail = "".join(f" {name}={value}" for name, value in values.items() if value != "")
        # One line an event: what a verifier raised must not look like lines of ours.
        said = f"{record.getMessage()}{tail}".replace("\r", "\\r").replace("\n", "\\n")
        level = record.levelname.lower()
        text = f"{clock}.{record.msecs:03.0f} {level:7} {said}"
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return printable(_sendable(text))


class LineHandler(logging.Handler):
    """Writes to `stream` from a thread; keeps at most `max_lines` that are not written yet."""

    def __init__(self, stream: TextIO, max_lines: int = _MAX_LINES) -> None:
        super().__init__()
        self.dropped = 0
        self._stream = stream
        self._max_lines = max_lines
        self._lines: deque[str] = deque()
        self._busy = False
        self._closed = False
        lock = threading.Lock()
        self._news = threading.Condition(lock)
        self._end = threading.Condition(lock)
        self._idle = threading.Condition(lock)
        self._thread = threading.Thread(target=self._write, name="verigym-log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Put the line in the queue, or count it as dropped."""
        try:
            line = self.format(record)
        except (TypeError, ValueError):
            self.handleError(record)
            return
        with self._news:
            if self._closed or len(self._lines) >= self._max_lines:
                self.dropped += 1
                return
            self._lines.append(line)
            if len(self._lines) == 1 and not self._busy:
                self._news.notify()

    def flush(self) -> None:
        """Wait until all is written, 2 s at most."""
        with self._idle:
            self._idle.wait_for(lambda: not self._lines and not self._busy, _FLUSH_S)

    def close(self) -> None:
        """Write what is left; the thread ends."""
        self.flush()
        with self._end:
            self._closed = True
            self._end.notify()
            self._news.notify()
        self._thread.join(_FLUSH_S)
        super().close()

    def _write(self) -> None:
        while True:
            with self._news:
                self._busy = False
                if not self._lines:
                    self._idle.notify_all()
                self._news.wait_for(lambda: self._closed or bool(self._lines))
                if not self._lines:
                    return
                self._busy = True
                if not self._closed:
                    self._end.wait(_GATHER_S)
                lines = list(self._lines)
                self._lines.clear()
                dropped, self.dropped = self.dropped, 0
            if dropped:
                lines.append(self._lost(dropped))
            try:
                self._stream.write("\n".join(lines) + "\n")
                self._stream.flush()
            except (OSError, ValueError):
                pass  # nobody is left to be told

    def _lost(self, dropped: int) -> str:
        message = "%d lines of the log were dropped: its reader was too slow"
        record = logging.LogRecord(
            __name__, logging.WARNING, __file__, 0, message, (dropped,), None
        )
        return self.format(record)


def configure(format: str = "auto", level: str = "info", stream: TextIO | None = None) -> None:
    """Send the log of this process to `stream`, standard error by default.

    `auto` is text for a terminal, else JSON. Other packages are heard from warnings on. Replaces
    what an earlier call set up. Raises ConfigError.
    """
    if format not in ("auto", "json", "text"):
        raise ConfigError(f"the log's format must be auto, json or text, got {format!r}")
    if level not in LEVELS:
        raise ConfigError(f"the log's level must be one of {', '.join(LEVELS)}, got {level!r}")
    out = sys.stderr if stream is None else stream
    text = format == "text" or (format == "auto" and out.isatty())
    # Nothing that a line shows, and half of what making one costs.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    root = logging.getLogger()
    for old in [h for h in root.handlers if isinstance(h, LineHandler)]:
        root.removeHandler(old)
        old.close()
    handler = LineHandler(out)
    handler.setFormatter(TextFormatter() if text else JsonFormatter())
    root.addHandler(handler)
    logging.getLogger("verigym").setLevel(level.upper())


def forget() -> None:
    """Undo `configure`; what was logged is written first."""
    root = logging.getLogger()
    for handler in [h for h in root.handlers if isinstance(h, LineHandler)]:
        root.removeHandler(handler)
        handler.close()
    logging.getLogger("verigym").setLevel(logging.NOTSET)


def _sendable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
