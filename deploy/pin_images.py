"""Write the digests of the images that deploy/ names behind their tags: `make pin-images`.

    python deploy/pin_images.py [--image registry.example.org/verigym:0.1.0]

Asks the registries by `docker buildx imagetools inspect`, so it needs Docker and a network. A tag can be
moved to another image by whoever owns it, a digest cannot. `--image` pins the service's own image in
kubernetes/kustomization.yaml, once it was pushed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

DEPLOY = Path(__file__).parent
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")

PLACES = (
    ("Dockerfile", r"^(?P<head>ARG PYTHON=)(?P<tag>[^@\s]+)(?:@\S+)?$", "python:"),
    ("sandbox.Dockerfile", r"^(?P<head>ARG DEBIAN=)(?P<tag>[^@\s]+)(?:@\S+)?$", "debian:"),
    (
        "compose.yaml",
        r"^(?P<head>    image: )(?P<tag>nginxinc/nginx-unprivileged:[^@\s]+)(?:@\S+)?$",
        "",
    ),
)
"""A file, the line with the tag in it, and what stands before the tag in the image's name."""


def pin(text: str, pattern: str, prefix: str) -> str:
    """Return `text` with a fresh digest in the one line that `pattern` matches."""

    def pinned(match: re.Match[str]) -> str:
        return f"{match['head']}{match['tag']}@{digest_of(prefix + match['tag'])}"

    changed, count = re.subn(pattern, pinned, text, flags=re.MULTILINE)
    if count != 1:
        raise SystemExit(f"{count} lines match {pattern}, not one")
    return changed


def pin_own(text: str, image: str) -> str:
    """Return kustomization.yaml with the service's image by digest."""
    name, _, _ = image.rpartition(":")
    line = f"  - {{name: verigym, newName: {name}, digest: {digest_of(image)}}}"
    changed, count = re.subn(r"^  - \{name: verigym,.*\}$", line, text, flags=re.MULTILINE)
    if count != 1:
        raise SystemExit(f"{count} lines name the image verigym, not one")
    return changed


def digest_of(image: str) -> str:
    """Return what the registry says is the digest of `image`, a name with a tag."""
    done = subprocess.run(
        ["docker", "buildx", "imagetools", "inspect", image, "--format", "{{.Manifest.Digest}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    found = done.stdout.strip()
    if done.returncode or not _DIGEST.fullmatch(found):
        raise SystemExit(f"no digest of {image}: {done.stderr.strip() or found!r}")
    return found


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--image", help="the service's image with its tag, as it was pushed")
    image = parser.parse_args(arguments).image
    changed = {}
    for name, pattern, prefix in PLACES:
        path = DEPLOY / name
        changed[path] = pin(path.read_text(), pattern, prefix)
    if image:
        path = DEPLOY / "kubernetes" / "kustomization.yaml"
        changed[path] = pin_own(path.read_text(), image)
    for path, text in changed.items():  # all or none
        path.write_text(text)
        sys.stdout.write(f"pinned {path.relative_to(DEPLOY.parent)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
