import asyncio
import concurrent.futures
import mmap
import multiprocessing
import os
import pty
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from multiprocessing import shared_memory


def square(x):
    return x * x


async def exchange():
    child = await asyncio.create_subprocess_exec("echo", "child", stdout=subprocess.PIPE)
    assert (await child.communicate())[0] == b"child\n"

    def answer(_, writer):
        writer.write(b"x")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    assert await reader.read() == b"x"
    writer.close()
    server.close()
    server = await asyncio.start_unix_server(answer, "socket")
    reader, writer = await asyncio.open_unix_connection("socket")
    assert await reader.read() == b"x"
    writer.close()
    server.close()
    os.unlink("socket")
    assert await asyncio.to_thread(square, 3) == 9


def main():
    asyncio.run(exchange())
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(square, range(3)) == [0, 1, 4]
    for kind in ("Thread", "Process"):
        with getattr(concurrent.futures, f"{kind}PoolExecutor")(2) as pool:
            assert list(pool.map(square, range(3))) == [0, 1, 4]
    shared = shared_memory.SharedMemory(create=True, size=100)
    shared.close()
    shared.unlink()
    one, two = socket.socketpair()
    one.send(b"x")
    assert two.recv(1) == b"x"
    socket.getaddrinfo("localhost", 80)
    connection = sqlite3.connect("one.db")
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table t (a)")
    connection.close()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy2(sys.argv[0], folder)
        shutil.copytree(folder, "tree")
        shutil.make_archive("all", "gztar", folder)
    shutil.rmtree("tree")
    mmap.mmap(-1, 4096, mmap.MAP_PRIVATE).close()
    os.mkfifo("pipe")
    os.nice(1)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.pause()
    pid, terminal = pty.fork()
    if pid == 0:
        os._exit(0 if os.isatty(0) else 1)
    assert os.waitpid(pid, 0)[1] == 0
    os.close(terminal)
    print("done")


if __name__ == "__main__":
    main()
