# attack: streams_rewound
# threat: stdio
# expect: CONTAINED: standard streams hold nothing of another job, and cannot be rewritten for the next
import os
bad = []
for fd in (0, 1, 2):
    try:
        os.lseek(fd, 0, os.SEEK_SET)
        found = os.read(fd, 4096) if fd else b""
        if found:
            bad.append((fd, found[:40]))
    except OSError:
        pass
    for what in (lambda: os.pwrite(0, b"planted", 0), lambda: os.ftruncate(0, 1 << 20), lambda: os.write(0, b"planted")):
        try:
            what()
        except OSError:
            pass
print("ESCAPED" if bad else "CONTAINED", bad)
# then: its successor looks at its own streams
import os, sys
found = sys.stdin.buffer.read()
print("ESCAPED" if found else "CONTAINED", found[:40])
