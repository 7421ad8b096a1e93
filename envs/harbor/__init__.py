"""Harbor task folders: written from our environments, and played in the sandbox without Docker.

`folder.py` reads a folder, `runner.py` runs one, `env.py` plays folders as an environment, `export.py` writes them.
Source: Harbor 0.24's task format (`task.toml`, `instruction.md`, `environment/`, `solution/solve.sh`, `tests/test.sh`).

Does not cover: folders that need an image, several steps, MCP servers, health checks or a network.
"""
