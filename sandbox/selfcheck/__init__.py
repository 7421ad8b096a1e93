"""The escape suite: programs that try to leave a sandbox, and the runner that judges them."""
