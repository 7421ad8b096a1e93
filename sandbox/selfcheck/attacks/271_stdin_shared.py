# attack: stdin_shared
# threat: stdio
# expect: CONTAINED: its input is its own: rewinding, truncating and mapping it reaches no other job's
# stdin: first
import mmap, os
for what in (lambda: os.ftruncate(0, 0), lambda: os.ftruncate(0, 1 << 30), lambda: os.pwrite(0, b"forged", 0), lambda: mmap.mmap(0, 4096)[:0], lambda: os.fchmod(0, 0o777)):
    try:
        what()
    except (OSError, ValueError, TypeError):
        pass
for flags in (os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
    try:
        fd = os.open("/proc/self/fd/0", flags | os.O_NONBLOCK)
        os.write(fd, b"forged")
    except OSError:
        pass
print("done", flush=True)
# then: its successor reads the same line
import sys
text = sys.stdin.read()
print("CONTAINED" if text == "first" else "ESCAPED", repr(text[:40]))
