"""The embedded backend: programs in processes of this machine, behind the layers of its kernel."""

from verigym.sandbox.local.client import LocalSandbox, default_sandbox

__all__ = ["LocalSandbox", "default_sandbox"]
