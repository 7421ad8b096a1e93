"""For Harbor's own runner: an environment without Docker, and an agent that cheats. Runs in Harbor's Python.

A folder of the trial stands in for the container: its parts are mounted at their places in a mount namespace of their
own, without a network, so this needs root or user namespaces.
"""

import asyncio
import os
import shutil
from pathlib import Path

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

PLACES = ("app", "logs", "tests", "solution")


class LocalEnvironment(BaseEnvironment):
    """A folder, into which commands look through mounts."""

    @staticmethod
    def type():
        return "verigym-local"

    @property
    def capabilities(self):
        return EnvironmentCapabilities(disable_internet=True)

    def _validate_definition(self):
        pass

    async def start(self, force_build):
        # A separate verifier is another instance for the same trial, which must see nothing of the first.
        self.root = Path(self.trial_paths.trial_dir) / f"root-{id(self)}"
        for name in (*PLACES, "logs/agent", "logs/verifier", "logs/artifacts"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

        # A separate verifier's image is built of the tests, and holds them.
        if Path(self.environment_dir).name == "tests":
            shutil.copytree(self.environment_dir, self.root / "tests", dirs_exist_ok=True)

    async def stop(self, delete):
        pass

    def _place(self, path):
        return self.root / str(path).lstrip("/")

    async def upload_file(self, source_path, target_path):
        self._place(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, self._place(target_path))

    async def upload_dir(self, source_dir, target_dir):
        shutil.copytree(source_dir, self._place(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path, target_path):
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self._place(source_path), target_path)

    async def download_dir(self, source_dir, target_dir):
        shutil.copytree(self._place(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        mounts = " && ".join(
            f"mkdir -p /{name} && mount --bind {self.root}/{name} /{name}" for name in PLACES
        )
        process = await asyncio.create_subprocess_exec(
            *("unshare", "-mn", "bash", "-c", f"{mounts} && cd {cwd or '/app'} && {command}"),
            env={**os.environ, **(env or {})},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), timeout_sec)
        return ExecResult(stdout=out.decode(), stderr=err.decode(), return_code=process.returncode)


class Cheat(BaseAgent):
    """Runs the script in the file that VERIGYM_CHEAT names."""

    @staticmethod
    def name():
        return "cheat"

    def version(self):
        return "1"

    async def setup(self, environment):
        pass

    async def run(self, instruction, environment, context):
        await environment.upload_file(os.environ["VERIGYM_CHEAT"], "/app/cheat.sh")
        await environment.exec("bash /app/cheat.sh", timeout_sec=60)
