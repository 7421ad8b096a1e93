# attack: sockets_of_children
# threat: memory
# expect: CONTAINED: what lies in the socket buffers of many processes together counts against the job
import os, socket, time
read, write = os.pipe()
made = 0
for _ in range(8):
    try:
        if os.fork() == 0:
            total, kept = 0, []
            try:
                while total < 100 << 20:
                    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
                    kept.append(pair)
                    pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 << 20)
                    pair[0].setblocking(False)
                    try:
                        while True:
                            total += pair[0].send(b"x" * 60000)
                    except OSError as e:
                        if e.errno != 11:
                            break
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
    text = os.read(read, 10)
    total += int(text or 0)
time.sleep(0.5)
print("ESCAPED" if total > 700 << 20 else "CONTAINED", total >> 20, "MiB in the sockets of", made, "children")
