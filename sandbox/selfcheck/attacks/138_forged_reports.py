# attack: forged_reports
# threat: stdio
# expect: CONTAINED: no open descriptor leads to the supervisor, whatever is written to it
# status: nonzero_exit
# exit: 3
import json, marshal, os, pickle, struct
forged = [
    b"exit 0 0.01 0.01 100 0\n", b"error out of memory\n", b"ready\n", b"\0" * 64,
    json.dumps({"status": "ok", "exit_code": 0, "event": "exit"}).encode() + b"\n",
    marshal.dumps({"status": 0}), marshal.dumps(("exit", 0)), pickle.dumps({"exit_code": 0}),
    struct.pack("<I", 16) + b"{\"status\":\"ok\"} ", struct.pack("<iQQ", 0, 0, 0), struct.pack(">I", 1 << 30),
]
bad = []
for fd in range(3, 1024):
    for text in forged:
        try:
            os.write(fd, text)
            bad.append(fd)
        except OSError:
            break
for text in forged:
    os.write(2, text)
    os.write(1, text)
print("\nESCAPED" if bad else "\nCONTAINED", sorted(set(bad)), flush=True)
os._exit(3)
