"""Contents of a sandbox's root on this machine: the interpreter, its packages, system folders."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
from collections.abc import Iterable
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from verigym.errors import SandboxError
from verigym.sandbox.languages.load import Language

PACKAGES = ("numpy", "sympy", "pandas")
"""Packages visible to Python programs, with their dependencies, if installed."""
# numpy imports some of its parts at first use, which takes longer than most programs.
_NUMPY = ("numpy", "numpy.random", "numpy.linalg", "numpy.fft", "numpy.polynomial")
IMAGES = {"bare": (), "numpy": _NUMPY, "science": (*_NUMPY, "sympy", "pandas")}
"""Modules that warm servers import, if installed, by image. A larger image forks more slowly."""

HOME = "/opt/python"
_LIBRARIES = "/opt/lib"
PATH = f"{HOME}/bin:/usr/local/bin:/usr/bin:/bin"
ENVIRONMENT = {
    "PATH": PATH,
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
}
"""Environment variables of every job."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("/etc/alternatives", "/etc/ld.so.cache")
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki")
_COVERED = (
    "/usr/lib/python3/dist-packages",
    "/usr/lib/python3*/site-packages",
    "/usr/lib64/python3*/site-packages",
    "/usr/local/lib/python3*/dist-packages",
    "/usr/local/lib/python3*/site-packages",
    "/usr/local/lib64/python3*/site-packages",
)
# In the warm server's environment beside the job's; numpy would start a thread a core.
_SERVER_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
_COMMON = (
    *("abc", "array", "bisect", "collections", "copy", "dataclasses", "datetime", "decimal"),
    *("enum", "fractions", "functools", "heapq", "io", "itertools", "json", "math", "operator"),
    *("os", "random", "re", "string", "struct", "sys", "time", "traceback", "typing", "warnings"),
)
_OWN_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_MODULES = (
    "system",
    "seccomp",
    "landlock",
    "root",
    "plain",
    "child",
    "collect",
    "slot",
    "zygote",
    "keeper",
)

BOOT = """
import marshal, os, sys, types
role, bundle, control = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with os.fdopen(os.dup(bundle), "rb") as file:
    settings, texts = marshal.loads(file.read())
settings["hooks"], settings["register"] = [], os.register_at_fork
os.register_at_fork = lambda **hooks: settings["hooks"].append(hooks)
for name, text in texts:
    module = types.ModuleType(name)
    module.__path__ = []
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    exec(compile(text, "<sandbox>", "exec"), module.__dict__)
module = sys.modules["verigym.sandbox.local." + role]
if role == "keeper":
    try:
        module.main(settings, control, bundle)
    except BaseException:
        module.fail(control)
        raise
os.close(bundle)
del file, texts, name, text, parent, last, types
module.main(settings, control)
"""
"""Loads the server's modules from the file that descriptor `bundle` holds, without the package."""


def visible_program(name: str) -> bool:
    """Return True if `name` is on the PATH of a job."""
    if name == "python3":
        return True
    found = shutil.which(name, path=PATH.partition(":")[2])
    return found is not None and os.path.realpath(found).startswith((*_SYSTEM, *_ETC))


def interpreter(*, for_all: bool = False) -> tuple[str, str, str]:
    """Return the interpreter that runs programs, its prefix, and the name of its library folder.

    The one that runs this process; where that lies in a folder closed to this user, or with `for_all`
    to any, as below another's home, the system's. Raises SandboxError if there is none.
    """
    own = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    prefix = os.path.realpath(sys.base_prefix)
    if (
        own.startswith(prefix + "/")
        and os.access(own, os.X_OK)
        and not (for_all and _is_closed(own))
    ):
        return own, prefix, _OWN_VERSION
    for path in ("/usr/local/bin/python3", "/usr/bin/python3"):
        python = os.path.realpath(path)
        version = os.path.basename(python)
        match = re.fullmatch(r"python3\.(\d+)", version)
        if match and int(match[1]) >= 11 and os.access(python, os.X_OK):
            return python, os.path.dirname(os.path.dirname(python)), version
    raise SandboxError(f"jobs may not start {own}, and /usr/bin has no Python 3.11 or newer")


def _is_closed(path: str) -> bool:
    """Return True if a folder above `path` is accessible to its owner and group only."""
    return any(not os.stat(folder).st_mode & 1 for folder in Path(path).parents)


def settings(
    languages: Iterable[Language],
    *,
    image: str,
    network: bool,
    namespaces: bool,
    groups: dict[str, Any],
) -> dict[str, Any]:
    """Return the settings of the keeper, the server and its slots, which are marshalled to them.

    Without `namespaces`, paths are the host's, and `folder`, in which jobs may write, has to be added.
    """
    as_root = os.geteuid() == 0
    python, prefix, version = interpreter(for_all=as_root and not namespaces)
    own = prefix not in ("/usr", "/usr/local")
    binds = [(path, path) for path in (*_SYSTEM, *_ETC, *(_NETWORK if network else ()))]
    for language in languages:
        for pattern in language.paths:
            binds += [(path, path) for path in glob.glob(pattern)]
    links = {}
    inside = python
    library = f"{prefix}/lib/{version}/site-packages"
    if own:
        binds.append((prefix, HOME))
        inside = HOME + python.removeprefix(prefix)
        library = f"{HOME}/lib/{version}/site-packages"
    else:
        links[f"{HOME}/bin/python3"] = python
        debian = "/usr/lib/python3/dist-packages"
        if prefix == "/usr" and os.path.isdir(debian):
            library = debian
    covers = sorted({path for pattern in _COVERED for path in glob.glob(pattern)} - {library})
    environment = {**ENVIRONMENT, **_SERVER_ENVIRONMENT}
    shared = glob.glob(f"{prefix}/lib/libpython3*.so*") if own else []
    for path in shared:
        # The interpreter looks for it where it was built, then takes the system's, of another version.
        links[f"{_LIBRARIES}/{os.path.basename(path)}"] = path.replace(prefix, HOME, 1)
        environment["LD_LIBRARY_PATH"] = _LIBRARIES
    found = packages() if version == _OWN_VERSION else []
    hidden = [*covers, f"{prefix}/lib/{version}/site-packages", *map(os.path.dirname, found)]
    if not namespaces:
        inside = python
        binds = [*((path, path) for path, _ in binds if path != prefix), (prefix, prefix)]
        environment.pop("LD_LIBRARY_PATH", None)
        environment["PATH"] = environment["PATH"].replace(f"{HOME}/bin", os.path.dirname(python))
        found = [path for path in found if not (as_root and _is_closed(path))]
    return {
        "as_root": as_root,
        "nobody": 65534,
        "network": network,
        "namespaces": namespaces,
        "groups": groups,
        "counted": bool(groups["parents"]),
        "hidden": list(dict.fromkeys(hidden)),
        "python": [inside],
        "boot": BOOT,
        "env": environment,
        "binds": list(dict.fromkeys(binds)),
        "links": links,
        "covers": [*covers, library],
        "packages": [
            (path, f"{library}/{os.path.basename(path)}" if namespaces else path) for path in found
        ],
        "texts": {
            "/etc/passwd": "nobody:x:65534:65534:nobody:/tmp:/bin/sh\n",
            "/etc/group": "nogroup:x:65534:\n",
        },
        "modules": [*_COMMON, *IMAGES[image]],
    }


def sources() -> list[tuple[str, str]]:
    """Return the names and texts of the modules that run inside, in the order in which they are loaded."""
    package = "verigym.sandbox.local"
    parents = [("verigym", ""), ("verigym.sandbox", ""), (package, "")]
    folder = files(package)
    remove = files("verigym.sandbox").joinpath("remove.py").read_text("utf-8")
    parents.insert(2, ("verigym.sandbox.remove", remove))
    return [
        *parents,
        *(
            (f"{package}.{name}", folder.joinpath(f"{name}.py").read_text("utf-8"))
            for name in _MODULES
        ),
    ]


def packages() -> list[str]:
    """Return the paths of the files and folders that make up PACKAGES and all that they require."""
    found: dict[str, None] = {}
    todo, done = list(PACKAGES), set()
    while todo:
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        for file in package.files or ():
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not top.endswith((".pth", ".dist-info")):
                found[str(package.locate_file(top))] = None
        for text in package.requires or ():
            if "extra ==" not in text and (match := re.match(r"[A-Za-z0-9._-]+", text)):
                todo.append(match[0])
    return [path for path in found if os.path.exists(path)]
