# attack: reads_the_disk
# threat: disk
# expect: CONTAINED: reading the system without end costs its own time only
# status: ok, time_limit, nonzero_exit, memory_limit
# wall: 2
import os
total = 0
for folder, _, names in os.walk("/usr"):
    for name in names:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                total += len(file.read(1 << 20))
        except OSError:
            pass
print("INFO", total >> 20, "MiB read")
