# attack: clocks
# threat: privilege
# expect: CONTAINED: no clock can be set
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
ok = []
for clock in (time.CLOCK_REALTIME, time.CLOCK_TAI if hasattr(time, "CLOCK_TAI") else 11):
    try:
        time.clock_settime(clock, time.clock_gettime(clock))
        ok.append(clock)
    except OSError:
        pass
now = (ctypes.c_long * 2)(int(time.time()), 0)
if libc.settimeofday(now, None) == 0:
    ok.append("settimeofday")
print("ESCAPED" if ok else "CONTAINED", ok)
