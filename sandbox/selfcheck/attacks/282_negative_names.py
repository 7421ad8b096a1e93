# attack: negative_names
# threat: memory
# expect: CONTAINED: the kernel's memory of names that do not exist is bounded or given back
# status: ok, time_limit, memory_limit
# wall: 2
import os, time
end = time.monotonic() + 1.5
n = 0
while time.monotonic() < end:
    for _ in range(1000):
        os.path.exists("/tmp/%d" % n)
        n += 1
print("CONTAINED", n, "names asked for")
