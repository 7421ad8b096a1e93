# attack: streams_of_children
# threat: memory
# expect: CONTAINED: TCP over the job's own loopback, in many processes, buffers no more than the job may have
import os, socket, time
read, write = os.pipe()
made = 0
for number in range(8):
    try:
        if os.fork() == 0:
            total, kept = 0, []
            try:
                listener = socket.socket()
                listener.bind(("127.0.0.1", 0))
                listener.listen(64)
                while total < 200 << 20 and len(kept) < 40:
                    out = socket.create_connection(listener.getsockname(), 1)
                    out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 << 20)
                    kept += [out, listener.accept()[0]]
                    out.setblocking(False)
                    try:
                        while True:
                            total += out.send(b"x" * 65536)
                    except BlockingIOError:
                        pass
            except OSError:
                pass
            os.write(write, b"%10d" % total)
            time.sleep(1)
            os._exit(0)
        made += 1
    except OSError:
        break
os.close(write)
total = 0
for _ in range(made):
    total += int(os.read(read, 10) or 0)
print("ESCAPED" if total > 700 << 20 else "CONTAINED", total >> 20, "MiB in the streams of", made, "children")
