"""Worker extension that drops all updates but the first."""

from tests.agents.engines.bad_workers import Dropping, DropsUpdates, install

install(DropsUpdates)
Extension = Dropping
