"""Programs that try to leave the sandbox: data of the self-check, run inside sandboxes only."""
