# attack: token_in_memory
# threat: info
# expect: CONTAINED: the supervisor's environment is neither in the job's own nor anywhere in its memory
# oracle: the harness sets SBX_CANARY_TOKEN before it starts the sandbox
import os, re
needle = b"SBX_CANARY" + b"_TOKEN="
hits = ["environ"] if any(k.startswith("SBX_CANARY") for k in os.environ) else []
for path in ("/proc/self/environ", "/proc/self/task/%d/environ" % os.getpid()):
    try:
        if needle in open(path, "rb").read():
            hits.append(path)
    except OSError:
        pass
try:
    memory = open("/proc/self/mem", "rb")
    maps = open("/proc/self/maps").read().splitlines()
except OSError:
    maps = []
for line in maps:
    m = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
    if not m or "[v" in line:
        continue
    a, b = int(m[1], 16), int(m[2], 16)
    if b - a > 1 << 28:
        continue
    try:
        memory.seek(a)
        data = memory.read(b - a)
    except (OSError, ValueError, OverflowError):
        continue
    for found in re.finditer(re.escape(needle) + rb"sbx-[0-9a-f]", data):
        hits.append(line.split()[-1])
print("ESCAPED" if hits else "CONTAINED", hits)
