"""The client's side of bringing files back from a job's folder. See collect.py for the other."""

from __future__ import annotations

import marshal
import socket
import struct

from verigym.sandbox.local.collect import HEADER, show_name
from verigym.sandbox.local.server import Slot
from verigym.sandbox.local.watch import Seen
from verigym.sandbox.step import ProgramRun

_FETCH_S = 20.0


def fetch(slot: Slot, step: ProgramRun, seen: Seen) -> None:
    """Bring back what the job left, while the slot holds its file system."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            socket.send_fds(slot.control, [b"F"], [theirs.fileno()])
        ours.settimeout(_FETCH_S)
        wanted = {
            "names": list(step.fetch),
            "bytes": step.limits.output_bytes,
            "total": step.limits.disk_mib << 20,
        }
        data = marshal.dumps(wanted)
        try:
            ours.sendall(struct.pack("=I", len(data)) + data)
            with ours.makefile("rb") as reply:
                while True:
                    header = reply.read(HEADER.size)
                    if len(header) < HEADER.size:
                        raise OSError("the collector of files ended early")
                    kind, name_bytes, data_bytes = HEADER.unpack(header)
                    if kind == b"Z":
                        return
                    name = show_name(reply.read(name_bytes))
                    content = reply.read(data_bytes)
                    if kind == b"D":
                        seen.files[name] = content
                    else:
                        seen.refused[name] = content.decode()
        except OSError as error:
            seen.lost = True
            seen.error = f"the job's files could not be brought back: {error}"
