# attack: pipes_of_children
# threat: memory
# expect: CONTAINED: what lies in the pipes of many processes together counts against the job
import fcntl, os, time
read, write = os.pipe()
made = 0
for _ in range(8):
    try:
        if os.fork() == 0:
            total, kept = 0, []
            try:
                while total < 200 << 20:
                    r, w = os.pipe()
                    kept += [r, w]
                    try:
                        fcntl.fcntl(w, 1031, 1 << 20)
                    except OSError:
                        pass
                    os.set_blocking(w, False)
                    try:
                        while True:
                            total += os.write(w, b"x" * 65536)
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
print("ESCAPED" if total > 700 << 20 else "CONTAINED", total >> 20, "MiB in the pipes of", made, "children")
