"""`DockerSandbox`: the same contract in containers of a Docker engine; see docs/sandbox-docker.md."""

from verigym.sandbox.docker.sandbox import IMAGE, DockerSandbox

__all__ = ["IMAGE", "DockerSandbox"]
