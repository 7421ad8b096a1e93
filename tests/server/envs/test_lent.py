"""A host's end of lent sockets."""

import mmap
import os
import socket

from verigym.server.envs.lent import LentSockets
from verigym.server.envs.messages import MEMORY_BYTES, LendSocket


def test_programs_that_an_environment_starts_do_not_get_the_sockets():
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
    (service, arrivals), (channel, _) = pairs
    client, ours = socket.socketpair()
    lent = LentSockets(channel, arrivals, mmap.mmap(-1, MEMORY_BYTES))
    socket.send_fds(service, [b"\0"], [ours.fileno()])
    assert lent.take(LendSocket(1, 0, 100))
    found = lent.find(1)
    assert not os.get_inheritable(found.fd)
    lent.release(found)
    assert len(lent) == 0
    for each in (*pairs[0], *pairs[1], client, ours):
        each.close()
