"""The wire of OpenEnv, so that its clients play the environments of this service; see docs/openenv.md.

    /openenv/games/keydoor-v0/ws            each environment has its own base URL
    /ws                                     with `--openenv games/keydoor-v0`, the root is one too

Follows the `openenv` package, version 0.10, and answers clients from 0.2 on; no code of its own.
"""
