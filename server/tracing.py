"""Configuration of tracing; the tracing itself is in `spans`, which needs an extra."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Final

from verigym.errors import ConfigError

if TYPE_CHECKING:
    from verigym.server.spans import Tracing

_log = logging.getLogger(__name__)

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def tracing_of(asked: bool) -> Tracing | None:
    """Return tracing where it was asked for, or where the environment names an endpoint; else None.

    Raises ConfigError if it was asked for and OpenTelemetry is not installed.
    """
    named = any(os.environ.get(name) for name in _ENDPOINTS)
    if not asked and not named:
        return None
    try:
        from verigym.server.spans import Tracing
    except ImportError as error:
        message = (
            f"traces need another package ({error}); install it with: pip install 'verigym[otel]'"
        )
        if asked:
            raise ConfigError(message) from error
        # The endpoint may stand in the environment for other programs.
        _log.warning("no traces are sent: %s", message)
        return None
    return Tracing()
