"""Worker extension that fails in the middle of all updates but the first."""

from tests.agents.engines.bad_workers import Breaking, BreaksOff, install

install(BreaksOff)
Extension = Breaking
