"""Diagnosis of this machine: its layers, missing ones with the reason, backends and languages."""

from __future__ import annotations

import os
import shutil
import socket
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from verigym.errors import SandboxError
from verigym.sandbox.languages.load import load_languages
from verigym.sandbox.local.interpreter import interpreter, visible_program
from verigym.sandbox.local.probe import layers, tier

if TYPE_CHECKING:
    from rich.console import RenderableType

_SUMMARY = {
    "strong": "Every required layer is active: the local backend runs as it is meant to.",
    "weaker": (
        "Namespaces are missing. The local backend refuses to run, unless configured to use Landlock, the system "
        "call filter and limits alone."
    ),
    "refused": "Too much is missing: the local backend refuses. Use the docker or remote backend.",
}
_CONTAINERS = (
    ("/.dockerenv", "docker"),
    ("/run/.containerenv", "podman"),
    ("/var/run/secrets/kubernetes.io", "kubernetes"),
)


def diagnose() -> dict[str, Any]:
    """Return everything that `verigym sandbox doctor` says; JSON. Takes about a quarter of a second, and
    up to five where a Docker engine does not answer."""
    found = layers()
    name = tier(found)
    return {
        "tier": name,
        "summary": _SUMMARY[name],
        "accept": _ACCEPT if name == "weaker" else None,
        "host": _host(),
        "layers": [asdict(layer) for layer in found],
        "backends": [_local(name), _docker(), _remote()],
        "languages": _languages(),
    }


_ACCEPT = "namespaces"
"""Value that `LocalSandbox(accept=...)` needs in tier `weaker`."""


def _host() -> dict[str, Any]:
    system = os.uname()
    container = next((kind for path, kind in _CONTAINERS if os.path.exists(path)), None)
    return {
        "kernel": f"{system.sysname} {system.release}",
        "machine": system.machine,
        "user": os.geteuid(),
        "as_root": os.geteuid() == 0,
        "container": container,
        "processors": len(os.sched_getaffinity(0)),
        "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        "python": interpreter()[0],
    }


def _local(name: str) -> dict[str, Any]:
    why = "" if name == "strong" else _SUMMARY[name]
    return {"name": "local", "available": name == "strong", "why": why, "detail": f"tier {name}"}


def _docker() -> dict[str, Any]:
    where = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    if where.startswith("unix://"):
        # Asked here first: loading the SDK only to hear that nobody listens takes half a second.
        with socket.socket(socket.AF_UNIX) as knock:
            try:
                knock.connect(where.removeprefix("unix://"))
            except OSError as error:
                why = f"no engine answers at {where}: {error.strerror or error}; see DOCKER_HOST"
                return {"name": "docker", "available": False, "why": why, "detail": ""}

    from verigym.sandbox.docker.engine import connect, errors

    try:
        api = connect(None)
        try:
            info = api.info()
        finally:
            api.close()
    except SandboxError as error:
        return {"name": "docker", "available": False, "why": str(error), "detail": ""}
    except errors() as error:
        return {"name": "docker", "available": False, "why": f"it fails: {error}", "detail": ""}
    runtimes = sorted(info.get("Runtimes") or {})
    detail = f"engine {info.get('ServerVersion', '?')}, runtimes {', '.join(runtimes)}"
    if "runsc" not in runtimes:
        detail += "; no gVisor (runsc), so holes of the kernel stay reachable"
        if shutil.which("runsc"):
            detail += "; it is installed: run `runsc install` and restart the engine"
    return {"name": "docker", "available": True, "why": "", "detail": detail}


def _remote() -> dict[str, Any]:
    why = "needs the address of a verigym server: --backend remote --url URL"
    return {"name": "remote", "available": False, "why": why, "detail": ""}


def _languages() -> list[dict[str, Any]]:
    found = []
    for name, language in load_languages().items():
        missing = [program for program in language.programs if not visible_program(program)]
        found.append(
            {
                "name": name,
                "title": language.title,
                "available": not missing,
                "missing": missing,
                "package": language.package,
            }
        )
    return found


def render(report: dict[str, Any]) -> RenderableType:
    """Return `report` for a person, to be printed by a rich console: what is missing is said at length."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    host = report["host"]
    colours = {"strong": "green", "weaker": "yellow", "refused": "red"}
    head = Text()
    head.append(report["tier"], style=f"bold {colours[report['tier']]}")
    head.append(f"  {report['summary']}\n")
    who = "root" if host["as_root"] else f"user {host['user']}"
    where = f", in a {host['container']} container" if host["container"] else ""
    head.append(f"{host['kernel']} {host['machine']}, as {who}{where}, {host['python']}\n", "dim")
    if report["accept"]:
        accept = report["accept"]
        head.append(f'To accept that: LocalSandbox(accept="{accept}") or --accept {accept}\n')

    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    table.add_column("layer", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("what it stops, or why it is missing and what an attacker could do")
    for layer in report["layers"]:
        if layer["active"]:
            here = Text(layer["detail"] or "yes", "green")
            said = Text(layer["stops"], "dim")
        else:
            here = Text(
                "MISSING" if layer["required"] else "no", "red" if layer["required"] else ""
            )
            said = Text(f"{layer['why']}\n")
            said.append(f"Without it: {layer['without']}", "red" if layer["required"] else "yellow")
        table.add_row(Text(layer["name"]), here, said)

    backends = Table(box=None, pad_edge=False, header_style="bold")
    backends.add_column("backend", no_wrap=True)
    backends.add_column("here", no_wrap=True)
    backends.add_column("")
    for backend in report["backends"]:
        here = Text("yes", "green") if backend["available"] else Text("no", "yellow")
        backends.add_row(backend["name"], here, Text(backend["why"] or backend["detail"], "dim"))

    there = [entry["name"] for entry in report["languages"] if entry["available"]]
    absent = [entry for entry in report["languages"] if not entry["available"]]
    tail = Text(f"\nLanguages: {', '.join(there)}")
    if absent:
        packages = " ".join(entry["package"] for entry in absent)
        tail.append(f"\nAbsent: {', '.join(entry['name'] for entry in absent)}", "yellow")
        tail.append(f" (Debian: apt-get install {packages})", "dim")
    return Group(head, table, Text(), backends, tail)
